//! Random joins, a brute force that answers them, and pages that may fail.

#![allow(dead_code, reason = "each test file uses a part of it")]

use penstock_joins::progressive::{
    Attribute, Comparison, Equality, Fault, JoinGraph, Operator, Options, PageFault, PageId, Pages,
    Progressive, Statistics, StreamId, ValueKind,
};
use penstock_kernel::ledger::{Ledger, thread_bytes};
use penstock_kernel::limits::Limits;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) % bound as u64) as usize
    }
}

pub fn ledger() -> Arc<Ledger> {
    Arc::new(Ledger::new(&Limits::NONE, None, None))
}

/// Pages in memory, which may run out of room, get lost or change.
#[derive(Default)]
pub struct MemoryPages {
    pub pages: BTreeMap<u64, Vec<u8>>,
    next: u64,
    heap: i64,
    pub writes_left: Option<usize>,
    /// The page with this number is lost, or cut off.
    pub spoil_at: Option<(u64, bool)>,
}

impl MemoryPages {
    /// Bytes of the pages, as the allocator counts them.
    pub fn heap_bytes(&self) -> i64 {
        self.heap
    }
}

/// Bytes that something allocated, minus what it freed.
fn allocated<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = thread_bytes();
    let done = work();
    (done, thread_bytes() - before)
}

impl Pages for MemoryPages {
    fn write(&mut self, page: &[u8]) -> Result<PageId, PageFault> {
        if let Some(left) = &mut self.writes_left {
            *left = left
                .checked_sub(1)
                .ok_or_else(|| PageFault("no space left".to_owned()))?;
        }
        self.next += 1;
        let mut page = page.to_vec();
        match self.spoil_at {
            Some((at, false)) if at == self.next => page.truncate(page.len() - 1),
            _ => {}
        }
        let (_, bytes) = allocated(|| self.pages.insert(self.next, page.clone()));
        self.heap += bytes;
        Ok(PageId(self.next))
    }

    fn read(&mut self, page: PageId) -> Result<Vec<u8>, PageFault> {
        let is_lost = self.spoil_at == Some((page.0, true));
        let found = self.pages.get(&page.0).filter(|_| !is_lost);
        found
            .cloned()
            .ok_or_else(|| PageFault(format!("page {} is lost", page.0)))
    }

    fn remove(&mut self, page: PageId) {
        let (removed, bytes) = allocated(|| self.pages.remove(&page.0).is_some());
        assert!(removed, "removed twice");
        self.heap += bytes;
    }
}

pub struct Pushed {
    pub stream: usize,
    pub time: i64,
    pub values: Vec<Vec<String>>,
    pub fragment: Vec<u8>,
}

/// A join and the bindings that arrive, in order.
pub struct Case {
    attributes: Vec<u32>,
    equalities: Vec<Equality>,
    comparisons: Vec<Comparison>,
    within: Option<i64>,
    pub bindings: Vec<Pushed>,
}

/// What a run gave.
pub struct Run {
    pub tuples: Vec<Vec<u64>>,
    pub statistics: Statistics,
    pub flushed: u64,
    pub stalls: usize,
    pub pages_left: usize,
    pub memory_most: u64,
    pub batch_most: usize,
}

impl Run {
    pub fn distinct(&self) -> BTreeSet<Vec<u64>> {
        self.tuples.iter().cloned().collect()
    }
}

fn attribute(stream: usize, number: u32) -> Attribute {
    Attribute {
        stream: StreamId(stream as u8),
        number,
    }
}

impl Case {
    pub fn random(random: &mut Random) -> Case {
        let streams = 2 + random.below(7);
        Case::of_streams(streams, random)
    }

    /// A random graph: a tree, and some edges and comparisons more.
    pub fn of_streams(streams: usize, random: &mut Random) -> Case {
        let attributes: Vec<u32> = (0..streams).map(|_| 1 + random.below(3) as u32).collect();
        let some = |stream: usize, random: &mut Random| {
            attribute(stream, random.below(attributes[stream] as usize) as u32)
        };
        let mut equalities = Vec::new();
        for stream in 1..streams {
            let other = random.below(stream);
            let (left, right) = (some(other, random), some(stream, random));
            equalities.push(Equality { left, right });
        }
        let mut comparisons = Vec::new();
        for _ in 0..random.below(3) {
            let left = random.below(streams);
            let right = (left + 1 + random.below(streams - 1)) % streams;
            let (left, right) = (some(left, random), some(right, random));
            if random.below(2) == 0 {
                equalities.push(Equality { left, right });
            } else {
                let operators = [
                    Operator::NotEqual,
                    Operator::Less,
                    Operator::LessOrEqual,
                    Operator::Greater,
                    Operator::GreaterOrEqual,
                ];
                let operator = operators[random.below(5)];
                let kind = [ValueKind::Text, ValueKind::Number][random.below(2)];
                comparisons.push(Comparison {
                    left,
                    operator,
                    right,
                    kind,
                });
            }
        }
        let within = (random.below(3) == 0).then(|| 20 + random.below(200) as i64);
        let mut case = Case {
            attributes,
            equalities,
            comparisons,
            within,
            bindings: Vec::new(),
        };
        let count = [0, 0, 120, 90, 70, 60, 55, 50, 48][streams];
        let domain = [0, 0, 12, 9, 7, 6, 5, 5, 5][streams] + random.below(3);
        let is_bursty = random.below(2) == 0;
        case.fill(count, domain, is_bursty, random);
        case
    }

    /// Two streams with many bindings and a value or two each.
    pub fn large(count: usize, random: &mut Random) -> Case {
        Case::frequent(count, count, random)
    }

    /// The same with so many different values.
    pub fn frequent(count: usize, domain: usize, random: &mut Random) -> Case {
        Case::star(2, count, domain, random)
    }

    /// So many streams, each pair with the same value.
    pub fn star(streams: usize, count: usize, domain: usize, random: &mut Random) -> Case {
        let pairs = (0..streams).flat_map(|right| (0..right).map(move |left| (left, right)));
        Case::joined(streams, pairs.collect(), (count, domain), random)
    }

    /// So many streams, each with the same value as the one before.
    pub fn chain(streams: usize, count: usize, domain: usize, random: &mut Random) -> Case {
        let pairs = (1..streams).map(|right| (right - 1, right));
        Case::joined(streams, pairs.collect(), (count, domain), random)
    }

    fn joined(
        streams: usize,
        pairs: Vec<(usize, usize)>,
        (count, domain): (usize, usize),
        random: &mut Random,
    ) -> Case {
        let join = |(left, right)| Equality {
            left: attribute(left, 0),
            right: attribute(right, 0),
        };
        let mut case = Case {
            attributes: vec![1; streams],
            equalities: pairs.into_iter().map(join).collect(),
            comparisons: Vec::new(),
            within: None,
            bindings: Vec::new(),
        };
        case.fill(count, domain, false, random);
        case
    }

    /// Four streams with one value: the last binding completes the product of the others.
    pub fn product(count: usize) -> Case {
        let join = |stream| Equality {
            left: attribute(0, 0),
            right: attribute(stream, 0),
        };
        let of = |stream| Pushed {
            stream,
            time: 0,
            values: vec![vec!["x".to_owned()]],
            fragment: b"<a/>".to_vec(),
        };
        let mut bindings: Vec<Pushed> = (0..3 * count).map(|at| of(at % 3 + 1)).collect();
        bindings.push(of(0));
        Case {
            attributes: vec![1; 4],
            equalities: (1..4).map(join).collect(),
            comparisons: Vec::new(),
            within: None,
            bindings,
        }
    }

    fn fill(&mut self, count: usize, domain: usize, is_bursty: bool, random: &mut Random) {
        let mut stream = 0;
        for at in 0..count {
            if !is_bursty || random.below(15) == 0 {
                stream = random.below(self.attributes.len());
            }
            let values = (0..self.attributes[stream]).map(|_| {
                // Some have no value, some have one twice; numbers have several spellings.
                let count = [1, 1, 1, 1, 1, 1, 2, 2, 3, 0][random.below(10)];
                let value = |_| match random.below(domain) {
                    0 => "nothing".to_owned(),
                    1 => String::new(),
                    value => value.to_string(),
                };
                (0..count).map(value).collect()
            });
            self.bindings.push(Pushed {
                stream,
                values: values.collect(),
                time: at as i64 + random.below(30) as i64,
                fragment: vec![b'a' + (at % 26) as u8; random.below(120)],
            });
        }
    }

    pub fn stream_count(&self) -> usize {
        self.attributes.len()
    }

    pub fn graph(&self) -> JoinGraph {
        let comparisons = self.comparisons.clone();
        JoinGraph::new(
            self.attributes.clone(),
            &self.equalities,
            comparisons,
            self.within,
        )
        .expect("a connected graph")
    }

    pub fn push(
        &self,
        join: &mut Progressive,
        binding: &Pushed,
        pages: &mut dyn Pages,
    ) -> Result<u64, Fault> {
        let lists = binding.values.iter();
        let values: Vec<Vec<&[u8]>> = lists
            .map(|list| list.iter().map(String::as_bytes).collect())
            .collect();
        let stream = StreamId(binding.stream as u8);
        join.push(stream, binding.time, &values, &binding.fragment, pages)
    }

    /// Bytes of memory that hold all bindings, beside empty tables.
    pub fn everything_bytes(&self) -> usize {
        let options = Options {
            partitions: 8,
            ..Options::default()
        };
        let mut join = Progressive::new(self.graph(), options, ledger());
        let mut pages = MemoryPages::default();
        for binding in &self.bindings {
            self.push(&mut join, binding, &mut pages).expect("room");
            while join.has_results() {
                join.take(1 << 20, &mut pages).expect("no bound");
            }
        }
        join.statistics().memory_bytes as usize
    }

    /// Pushes all bindings, takes in batches, settles now and then, and finishes.
    pub fn run(&self, options: Options, random: &mut Random) -> Run {
        let mut join = Progressive::new(self.graph(), options, ledger());
        let mut pages = MemoryPages::default();
        let mut run = Run {
            tuples: Vec::new(),
            statistics: Statistics::default(),
            flushed: 0,
            stalls: 0,
            pages_left: 0,
            memory_most: 0,
            batch_most: 0,
        };
        let last_of = |stream: usize| self.bindings.iter().rposition(|one| one.stream == stream);
        let stalls_in = 30 + random.below(60);
        for (at, binding) in self.bindings.iter().enumerate() {
            let arrival = self.push(&mut join, binding, &mut pages).expect("room");
            assert_eq!(arrival, at as u64 + 1);
            run.take(&mut join, &mut pages, random);
            let memory = join.statistics().memory_bytes;
            let is_any = join.statistics().streams.iter().any(|one| one.resident > 0);
            run.memory_most = run.memory_most.max(if is_any { memory } else { 0 });
            if last_of(binding.stream) == Some(at) {
                join.end(StreamId(binding.stream as u8));
            }
            if random.below(stalls_in) == 0 && self.bindings.len() < 200 {
                join.settle(&mut pages).expect("room");
                run.stalls += usize::from(join.has_results());
                run.take(&mut join, &mut pages, random);
            }
        }
        join.finish(&mut pages).expect("room");
        run.take(&mut join, &mut pages, random);
        run.statistics = join.statistics();
        run.flushed = run.statistics.streams.iter().map(|one| one.flushed).sum();
        run.pages_left = pages.pages.len();
        let found = run.statistics.results + run.statistics.cleaned;
        assert_eq!(found, run.tuples.len() as u64);
        run
    }

    /// Runs until something fails, and says that it fails again.
    pub fn run_until_fault(&self, options: Options, pages: &mut MemoryPages) -> Option<Fault> {
        let mut join = Progressive::new(self.graph(), options, ledger());
        let fault = self.try_run(&mut join, pages).err();
        assert_eq!(join.finish(pages).err(), fault);
        assert_eq!(join.take(1, pages).err(), fault);
        fault
    }

    fn try_run(&self, join: &mut Progressive, pages: &mut MemoryPages) -> Result<(), Fault> {
        for binding in &self.bindings {
            self.push(join, binding, pages)?;
            while join.has_results() {
                join.take(10, pages)?;
            }
        }
        join.finish(pages)?;
        while join.has_results() {
            join.take(10, pages)?;
        }
        Ok(())
    }

    /// All tuples, by arrival numbers: streams one after the other, every condition as it stands.
    pub fn brute_force(&self) -> BTreeSet<Vec<u64>> {
        let mut tuples = vec![Vec::new()];
        for stream in 0..self.stream_count() {
            let mut longer = Vec::new();
            for tuple in &tuples {
                for (at, binding) in self.bindings.iter().enumerate() {
                    let mut tuple: Vec<usize> = tuple.clone();
                    tuple.push(at);
                    if binding.stream == stream && self.holds(&tuple) {
                        longer.push(tuple);
                    }
                }
            }
            tuples = longer;
        }
        let arrivals = |tuple: Vec<usize>| tuple.iter().map(|&at| at as u64 + 1).collect();
        tuples.into_iter().map(arrivals).collect()
    }

    fn holds(&self, tuple: &[usize]) -> bool {
        let values = |side: Attribute| {
            let at = *tuple.get(usize::from(side.stream.0))?;
            Some(&self.bindings[at].values[side.number as usize])
        };
        let times = tuple.iter().map(|&at| self.bindings[at].time);
        let spread = times.clone().max().unwrap_or(0) - times.min().unwrap_or(0);
        self.within.is_none_or(|within| spread <= within)
            && self.equalities.iter().all(|edge| {
                let sides = values(edge.left).zip(values(edge.right));
                sides.is_none_or(|(left, right)| left.iter().any(|value| right.contains(value)))
            })
            && self.comparisons.iter().all(|edge| {
                let sides = values(edge.left).zip(values(edge.right));
                sides.is_none_or(|(left, right)| {
                    let mut pairs = left
                        .iter()
                        .flat_map(|a| right.iter().map(move |b| (a.as_str(), b.as_str())));
                    pairs.any(|(a, b)| compare(edge, a, b))
                })
            })
    }
}

fn compare(edge: &Comparison, left: &str, right: &str) -> bool {
    let order = match edge.kind {
        ValueKind::Text => Some(left.cmp(right)),
        ValueKind::Number => {
            let numbers = left.parse::<f64>().ok().zip(right.parse::<f64>().ok());
            numbers.and_then(|(left, right)| left.partial_cmp(&right))
        }
    };
    order.is_some_and(|order| match edge.operator {
        Operator::NotEqual => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        Operator::GreaterOrEqual => order.is_ge(),
    })
}

impl Run {
    fn take(&mut self, join: &mut Progressive, pages: &mut MemoryPages, random: &mut Random) {
        while join.has_results() {
            let batch = join.take(1 + random.below(97), pages).expect("no bound");
            self.batch_most = self.batch_most.max(batch.len());
            let arrivals = batch
                .iter()
                .map(|tuple| tuple.iter().map(|part| part.arrival).collect());
            self.tuples.extend(arrivals);
        }
    }
}
