//! Messages, put together from constant bytes and pieces.

use super::outputs::{Op, Output, Outputs};
use super::pieces::{Pieces, Reading};
use crate::ledger::Account;
use penstock_broker::{Answers, NONE, Pair, places};

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was written.
    Sent,
    /// Nothing is in it.
    Empty,
    /// A piece has no value; the number of the error.
    Failed(u32),
}

/// Bytes of messages, one behind the other, and where they end.
pub struct Written<'a> {
    /// The bytes.
    pub bytes: &'a mut Vec<u8>,
    /// Where messages end.
    pub offsets: &'a mut Vec<i32>,
}

/// Messages that were not sent, in order; mostly there are none.
pub type Unsent = Vec<(u32, Outcome)>;

/// Writes the messages of a document. One that is not sent is empty.
pub fn assemble(
    answers: &Answers,
    outputs: &Outputs,
    pieces: &mut Pieces,
    reading: &Reading<'_>,
    account: &mut Account,
    written: &mut Written<'_>,
) -> Unsent {
    let mut unsent = Unsent::new();
    let mut nodes: Vec<u32> = Vec::new();
    let mut known = NONE;
    for (number, &Pair { set, output }) in answers.pairs.iter().enumerate() {
        if set != known {
            known = set;
            let list = reading.store.list(answers.sets.test(set));
            nodes.clear();
            nodes.extend(places(answers.sets.words(set)).map(|place| list[place as usize]));
        }
        let output = &outputs.all[output as usize];
        let start = written.bytes.len();
        let outcome = Message {
            outputs,
            pieces,
            reading,
            account,
            bytes: written.bytes,
        }
        .write(output, &nodes);
        end_message(number as u32, outcome, start, account, written, &mut unsent);
    }
    unsent
}

fn end_message(
    number: u32,
    outcome: Outcome,
    start: usize,
    account: &mut Account,
    written: &mut Written<'_>,
    unsent: &mut Unsent,
) {
    if outcome != Outcome::Sent {
        written.bytes.truncate(start);
        unsent.push((number, outcome));
    }
    account.spend(1 + (written.bytes.len() - start) as u64 / 256);
    written.offsets.push(written.bytes.len() as i32);
}

/// A message under way.
struct Message<'a, 'r> {
    outputs: &'a Outputs,
    pieces: &'a mut Pieces,
    reading: &'a Reading<'r>,
    account: &'a mut Account,
    bytes: &'a mut Vec<u8>,
}

impl Message<'_, '_> {
    fn write(&mut self, output: &Output, nodes: &[u32]) -> Outcome {
        self.constant(output.before.start, output.before.end);
        let start = self.bytes.len();
        if output.is_set {
            if let Some(Op::Piece(piece)) = self.outputs.ops.get(output.ops.start as usize) {
                let account = &mut *self.account;
                let mut meter = |steps| account.spend(steps);
                let span = self
                    .pieces
                    .evaluate(*piece, nodes, self.reading, &mut meter);
                if let Err(error) = self.copy(span) {
                    return Outcome::Failed(error);
                }
            }
        } else {
            let ops = &self.outputs.ops[output.ops.start as usize..output.ops.end as usize];
            for &node in nodes {
                if let Err(error) = self.node(ops, node) {
                    return Outcome::Failed(error);
                }
            }
        }
        if output.is_bare && self.bytes.len() == start {
            return Outcome::Empty;
        }
        self.constant(output.after.start, output.after.end);
        Outcome::Sent
    }

    #[inline]
    fn node(&mut self, ops: &[Op], node: u32) -> Result<(), u32> {
        for op in ops {
            match op {
                Op::Bytes(range) => self.constant(range.start, range.end),
                Op::Piece(piece) => self.piece(*piece, node)?,
                Op::Enclosed {
                    open,
                    pieces,
                    close,
                    empty,
                } => {
                    let before = self.bytes.len();
                    self.constant(open.start, open.end);
                    let content = self.bytes.len();
                    for at in pieces.clone() {
                        self.piece(self.outputs.pieces[at as usize], node)?;
                    }
                    if self.bytes.len() == content {
                        self.bytes.truncate(before);
                        self.constant(empty.start, empty.end);
                    } else {
                        self.constant(close.start, close.end);
                    }
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn piece(&mut self, piece: u32, node: u32) -> Result<(), u32> {
        let account = &mut *self.account;
        let mut meter = |steps| account.spend(steps);
        let span = self.pieces.of(piece, node, self.reading, &mut meter);
        self.copy(span)
    }

    #[inline]
    fn copy(&mut self, (start, end): (u32, u32)) -> Result<(), u32> {
        if end == NONE {
            return Err(start);
        }
        let bytes = &self.pieces.bytes[start as usize..end as usize];
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn constant(&mut self, start: u32, end: u32) {
        let bytes = &self.outputs.bytes[start as usize..end as usize];
        self.bytes.extend_from_slice(bytes);
    }
}
