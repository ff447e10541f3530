//! The broker finds the nodes that a brute force finds, over elements that nest.

use penstock_broker::{
    Axis, BindingStep, Broker, Condition, Constant, Field, Index, Kind, NONE, Operator, OutputId,
    Path, Query, Step, Store, TestId, places,
};
use std::collections::BTreeSet;

const NAMES: u32 = 3;

/// A generator of numbers: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, count: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as u32 % count
    }
}

/// Names, parents and texts of elements in document order.
#[derive(Default)]
struct Document {
    elements: Vec<(u32, u32, u32)>,
}

fn document(random: &mut Random, store: &mut Store) -> Document {
    let mut document = Document::default();
    store.clear();
    let mut open: Vec<u32> = Vec::new();
    for at in 0..40 {
        while open.len() > 5 || open.len() > 1 && random.below(3) == 0 {
            store.end();
            open.pop();
        }
        let (name, text) = (random.below(NAMES), random.below(3));
        let parent = open.last().copied().unwrap_or(NONE);
        document.elements.push((name, parent, text));
        open.push(store.start(name));
        store.attribute(NAMES, text.to_string().as_bytes());
        assert_eq!(open.last(), Some(&at));
    }
    open.iter().for_each(|_| store.end());
    document
}

impl Document {
    fn is_below(&self, element: u32, from: u32) -> bool {
        let parent = self.elements[element as usize].1;
        parent != NONE && (parent == from || self.is_below(parent, from))
    }

    fn reach(&self, from: Option<u32>, steps: &[Step]) -> BTreeSet<u32> {
        let [(axis, test), rest @ ..] = steps else {
            return from.into_iter().collect();
        };
        let all = 0..self.elements.len() as u32;
        let next = all.filter(|&one| {
            let (name, parent, _) = self.elements[one as usize];
            name == test.0
                && match (from, axis) {
                    (None, Axis::Descendant) => true,
                    (None, Axis::Child) => parent == NONE,
                    (Some(from), Axis::Child) => parent == from,
                    (Some(from), Axis::Descendant) => self.is_below(one, from),
                }
        });
        next.flat_map(|one| self.reach(Some(one), rest)).collect()
    }

    fn holds(&self, node: u32, condition: &Condition) -> bool {
        match condition {
            Condition::Compare(path, _, operator, Constant::Number(number)) => {
                let nodes = self.reach(Some(node), &path.steps);
                nodes.iter().any(|&one| {
                    let text = f64::from(self.elements[one as usize].2);
                    operator.holds(text.partial_cmp(number))
                })
            }
            Condition::And(parts) => parts.iter().all(|part| self.holds(node, part)),
            Condition::Or(parts) => parts.iter().any(|part| self.holds(node, part)),
            Condition::Not(inner) => !self.holds(node, inner),
            Condition::Exists(path) => !self.reach(Some(node), &path.steps).is_empty(),
            _ => true,
        }
    }
}

fn steps(random: &mut Random, least: u32) -> Vec<Step> {
    let count = least + random.below(3);
    let step = |_| {
        let axis = [Axis::Child, Axis::Descendant, Axis::Descendant][random.below(3) as usize];
        (axis, TestId(random.below(NAMES)))
    };
    (0..count).map(step).collect()
}

fn condition(random: &mut Random, depth: u32) -> Condition {
    const OPERATORS: [Operator; 4] = [
        Operator::Equal,
        Operator::NotEqual,
        Operator::Less,
        Operator::GreaterOrEqual,
    ];
    let kind = random.below(if depth < 2 { 8 } else { 5 });
    let parts = |random: &mut Random| -> Vec<Condition> {
        (0..2).map(|_| condition(random, depth + 1)).collect()
    };
    match kind {
        0 => Condition::Exists(Path {
            steps: steps(random, 1).into(),
            field: Field::Element,
        }),
        5 => Condition::And(parts(random)),
        6 => Condition::Or(parts(random)),
        7 => Condition::Not(Box::new(condition(random, depth + 1))),
        _ => {
            let path = Path {
                steps: steps(random, 0).into(),
                field: Field::Attribute(TestId(NAMES)),
            };
            let operator = OPERATORS[random.below(4) as usize];
            let constant = Constant::Number(f64::from(random.below(3)));
            Condition::Compare(path, Kind::Number, operator, constant)
        }
    }
}

fn queries(random: &mut Random) -> Vec<Query> {
    let mut queries = Vec::new();
    for subscription in 0..30 {
        let binding = steps(random, 1).into_iter().map(|step| BindingStep {
            step,
            condition: Condition::True,
        });
        let mut binding: Vec<BindingStep> = binding.collect();
        if random.below(3) == 0 {
            binding[0].condition = condition(random, 2);
        }
        queries.push(Query {
            binding,
            condition: condition(random, 0),
            output: OutputId(subscription),
            subscription,
        });
    }
    queries
}

/// The bound nodes of a query that its condition leaves.
fn expected(document: &Document, query: &Query) -> Vec<u32> {
    let mut bound: Vec<Option<u32>> = vec![None];
    for step in &query.binding {
        let next = bound
            .iter()
            .flat_map(|&from| document.reach(from, &[step.step]));
        let next: BTreeSet<u32> = next.collect();
        let kept = next
            .into_iter()
            .filter(|&one| document.holds(one, &step.condition));
        bound = kept.map(Some).collect();
    }
    let bound = bound.into_iter().flatten();
    bound
        .filter(|&node| document.holds(node, &query.condition))
        .collect()
}

#[test]
fn the_broker_finds_what_a_brute_force_finds() {
    let mut random = Random(0x5eed);
    let mut found = 0;
    for _ in 0..40 {
        let queries = queries(&mut random);
        let mut store = Store::default();
        for name in 0..=NAMES {
            store.set_name(name, [TestId(name)].into());
        }
        let mut broker = Broker::new(Index::of(&queries));
        for _ in 0..4 {
            let document = document(&mut random, &mut store);
            assert!(broker.ask(&mut store));
            for query in &queries {
                let nodes = expected(&document, query);
                found += usize::from(!nodes.is_empty());
                assert_eq!(nodes_of(&broker, &store, query), nodes);
            }
        }
    }
    assert!(found > 1_000, "{found}");
}

/// The nodes that a broker found for a query.
fn nodes_of(broker: &Broker, store: &Store, query: &Query) -> Vec<u32> {
    let answers = &broker.answers;
    let mut rows = answers.subscriptions.iter().zip(&answers.messages);
    let Some((_, &message)) = rows.find(|(own, _)| **own == query.subscription) else {
        return Vec::new();
    };
    let set = answers.pairs[message as usize].set;
    let list = store.list(answers.sets.test(set));
    let nodes = places(answers.sets.words(set)).map(|place| list[place as usize]);
    nodes.collect()
}
