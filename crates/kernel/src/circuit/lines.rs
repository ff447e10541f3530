//! Positions among nodes to come: contexts as tokens that count the members which pass them.
//!
//! A context that asks for the positions 2 to 4 stands in a *line*, and the members of its step
//! come by. A token notes between which ranks it wants members. All tokens with the same bounds
//! stand at one *station*, so a member looks at stations, not at contexts:
//!
//! ```text
//! a member that is out         nothing moves
//! a member that counts         the rank goes up; open stations get the member
//! an undecided member q        every station splits: one rank nearer where q holds, as it was
//!                              where it does not, and what is right either way without asking
//! ```
//!
//! Tokens of one set merge at a station, under either condition. A context that asks for a truth
//! takes the end of its station, as in a chain. And, Or and Not are all that is wired, so each
//! context knows exactly what a list of its own would tell it.

use super::Circuit;
use super::cells::{Handle, Wire};
use super::frames::{ArmTarget, Target};
use super::ids::SinkId;
use super::ranks::{END, Span};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Contexts that count the members to come of one step.
#[derive(Debug, Default)]
pub struct Line {
    /// How many members have counted.
    rank: u64,
    /// Stations that want the next member, by their last rank.
    open: Vec<Station>,
    /// Those that want later ones, by their ranks.
    waiting: VecDeque<Station>,
}

/// Tokens that want the members of the same ranks.
#[derive(Debug)]
pub struct Station {
    from: u64,
    until: u64,
    end: Option<End>,
    /// One for each sink, by its serial number.
    tokens: SmallVec<[Token; 1]>,
}

/// Whether one of these members satisfies the route.
#[derive(Clone, Copy, Debug)]
struct End {
    or: Handle,
    /// Whether members are in it: then the next context begins a new end.
    has_members: bool,
}

#[derive(Debug)]
struct Token {
    sink: SinkId,
    /// Contexts come with sinks of their own or share one: those that came later are newer.
    serial: u64,
    when: Wire,
}

/// Whether an undecided member counts.
#[derive(Clone, Copy)]
enum Case<'a> {
    Any,
    Counts(&'a Wire),
    Out(&'a Wire),
}

/// The targets that get a member, each once, and the stations that end with it.
#[derive(Debug, Default)]
pub struct Reached {
    pub heard: SmallVec<[(ArmTarget, Wire); 4]>,
    left: Vec<Station>,
}

impl Station {
    pub fn new(span: Span) -> Self {
        Station {
            from: span.0,
            until: span.1,
            end: None,
            tokens: SmallVec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.end.is_none() && self.tokens.is_empty()
    }
}

impl Line {
    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.waiting.is_empty()
    }

    /// The station for these ranks, from now on.
    fn station(&mut self, from: u64, until: u64) -> &mut Station {
        if from <= self.rank + 1 {
            let at = self.open.partition_point(|known| known.until < until);
            if self.open.get(at).is_none_or(|known| known.until != until) {
                self.open.insert(at, Station::new((0, until)));
            }
            return &mut self.open[at];
        }
        // New ones come last, and split ones near those that they come from.
        let key = |known: &Station| (known.from, known.until);
        let mut at = self.waiting.len();
        while at > 0 && key(&self.waiting[at - 1]) > (from, until) {
            at -= 1;
        }
        if at > 0 && key(&self.waiting[at - 1]) == (from, until) {
            return &mut self.waiting[at - 1];
        }
        self.waiting.insert(at, Station::new((from, until)));
        &mut self.waiting[at]
    }
}

impl Circuit {
    /// A context joins a station.
    pub(super) fn enter(&mut self, station: &mut Station, target: Target, when: Wire) {
        let when = self.cells.resolve(&when);
        if when.is_false() {
            return;
        }
        let sink = match target {
            Target::Sink(sink) => sink,
            Target::Any(or) => {
                let end = self.end_of(station);
                let wire = self.and(when, Wire::Cell(end));
                return self.or_add(or, &wire);
            }
        };
        let serial = self.sinks[sink].serial;
        let at = station
            .tokens
            .partition_point(|token| token.serial < serial);
        if let Some(token) = station.tokens.get_mut(at)
            && token.serial == serial
        {
            let wire = self.any(&[token.when.clone(), when]);
            self.cells.pin(&wire);
            self.cells.unpin(&token.when);
            token.when = wire;
            return;
        }
        self.cells.pin(&when);
        self.source_open(ArmTarget::Plain(target));
        self.held_bytes += size_of::<Token>();
        station.tokens.insert(at, Token { sink, serial, when });
    }

    /// The end of a station that has no members yet.
    fn end_of(&mut self, station: &mut Station) -> Handle {
        match station.end {
            Some(end) if !end.has_members => end.or,
            old => {
                let or = self.open_or(1);
                self.cells.pin(&Wire::Cell(or));
                if let Some(old) = old {
                    self.link_end(old.or, or);
                }
                let has_members = false;
                station.end = Some(End { or, has_members });
                or
            }
        }
    }

    /// Contexts that came since the last member take their places. Their spans count from here.
    pub(super) fn line_up(&mut self, line: &mut Line, fresh: Vec<Station>) {
        for station in fresh {
            let from = line.rank.saturating_add(station.from);
            let until = line.rank.saturating_add(station.until);
            self.settle_station(line, station, from, until);
        }
    }

    fn settle_station(&mut self, line: &mut Line, station: Station, from: u64, until: u64) {
        if station.is_empty() {
            return;
        }
        let place = line.station(from, until);
        if place.is_empty() {
            (place.end, place.tokens) = (station.end, station.tokens);
        } else {
            self.move_tokens(&station, place, Case::Any);
            self.leave(station);
        }
    }

    /// The tokens of a station stand at another one too, under a condition.
    fn move_tokens(&mut self, station: &Station, place: &mut Station, case: Case<'_>) {
        self.cells.account.spend(1);
        if let Some(end) = station.end
            && self.cells.is_open(end.or)
        {
            let rest = self.end_of(place);
            let wire = self.in_case(&Wire::Cell(rest), case);
            self.or_add(end.or, &wire);
        }
        for token in &station.tokens {
            let target = Target::Sink(token.sink);
            if self.is_heard(ArmTarget::Plain(target)) {
                self.cells.account.spend(1);
                let wire = self.in_case(&token.when, case);
                self.enter(place, target, wire);
            }
        }
    }

    fn in_case(&mut self, when: &Wire, case: Case<'_>) -> Wire {
        match case {
            Case::Any => when.clone(),
            Case::Counts(counts) => self.and(when.clone(), counts.clone()),
            Case::Out(counts) => self.and_not(when, counts),
        }
    }

    /// Ends a station.
    pub(super) fn leave(&mut self, station: Station) {
        if let Some(end) = station.end {
            self.or_close(end.or);
            self.cells.unpin(&Wire::Cell(end.or));
        }
        for token in station.tokens {
            self.held_bytes -= size_of::<Token>();
            self.cells.unpin(&token.when);
            self.source_close(ArmTarget::Plain(Target::Sink(token.sink)));
        }
    }

    /// The line is complete: no further member follows.
    pub(super) fn close_line(&mut self, line: Line) {
        for station in line.open.into_iter().chain(line.waiting) {
            self.leave(station);
        }
    }

    /// A member comes by; it counts if a truth holds.
    pub(super) fn pass(&mut self, line: &mut Line, truth: &Wire) -> Reached {
        let mut reached = Reached::default();
        let next = line.rank + 1;
        let due = line.waiting.partition_point(|station| station.from <= next);
        for station in line
            .waiting
            .drain(..due)
            .collect::<SmallVec<[Station; 1]>>()
        {
            let until = station.until;
            self.settle_station(line, station, 0, until);
        }
        match self.cells.resolve(truth) {
            truth if truth.is_false() => {}
            truth if truth.is_true() => self.pass_sure(line, &mut reached),
            truth => self.pass_undecided(line, &truth, &mut reached),
        }
        reached.heard = self.merge_heard(std::mem::take(&mut reached.heard));
        reached
    }

    fn pass_sure(&mut self, line: &mut Line, reached: &mut Reached) {
        line.rank += 1;
        for mut station in std::mem::take(&mut line.open) {
            self.hear(&mut station, &Wire::TRUE, reached);
            if station.until > line.rank {
                line.open.push(station);
            } else {
                reached.left.push(station);
            }
        }
    }

    fn pass_undecided(&mut self, line: &mut Line, counts: &Wire, reached: &mut Reached) {
        let next = line.rank + 1;
        for mut station in std::mem::take(&mut line.open) {
            self.hear(&mut station, counts, reached);
            if station.until == END {
                line.open.push(station);
                continue;
            }
            if station.until > next {
                let either = line.station(0, station.until - 1);
                self.move_tokens(&station, either, Case::Any);
            }
            self.move_tokens(&station, line.station(0, station.until), Case::Out(counts));
            reached.left.push(station);
        }
        for station in std::mem::take(&mut line.waiting) {
            let Station { from, until, .. } = station;
            let before = if until == END { END } else { until - 1 };
            self.move_tokens(
                &station,
                line.station(from - 1, before),
                Case::Counts(counts),
            );
            if from <= before {
                self.move_tokens(&station, line.station(from, before), Case::Any);
            }
            if until != END {
                self.move_tokens(&station, line.station(from, until), Case::Out(counts));
            }
            self.count_pairs(1);
            reached.left.push(station);
        }
    }

    /// The tokens of an open station hear of a member.
    fn hear(&mut self, station: &mut Station, counts: &Wire, reached: &mut Reached) {
        let tokens = station.tokens.iter();
        let tokens = tokens.map(|token| (Target::Sink(token.sink), token.when.clone()));
        let end = station.end.as_mut().map(|end| {
            end.has_members = true;
            (Target::Any(end.or), Wire::TRUE)
        });
        for (target, when) in tokens.chain(end) {
            self.count_pairs(1);
            let to = ArmTarget::Plain(target);
            if self.is_heard(to) {
                let wire = self.and(when, counts.clone());
                reached.heard.push((to, wire));
            }
        }
    }

    /// A member has gone to all who were reached: stations that are through go.
    pub(super) fn finish_pass(&mut self, left: Reached) {
        for station in left.left {
            self.leave(station);
        }
    }
}
