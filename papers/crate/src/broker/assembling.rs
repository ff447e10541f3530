//! Messages, written from groups of lists: a message for each plan.

use crate::operators::Groups;
use penstock_broker::NONE;
use penstock_kernel::broker::{Op, Output, Outputs, Pieces, Reading};

/// The message of each plan; None for one in which nothing is.
///
/// # Errors
/// A piece has no value; the reason.
pub fn assemble(
    groups: &Groups,
    outputs: &Outputs,
    pieces: &mut Pieces,
    reading: &Reading<'_>,
) -> Vec<Result<Option<Vec<u8>>, String>> {
    let mut nodes: Vec<u32> = Vec::new();
    let messages = groups.messages.iter();
    messages
        .map(|made| {
            let output = &outputs.all[made.output as usize];
            let lists = &groups.flat[made.from as usize..made.to as usize];
            nodes.clear();
            if output.is_set {
                nodes.extend_from_slice(lists);
            }
            let mut message = Message {
                outputs,
                pieces: &mut *pieces,
                reading,
                bytes: Vec::new(),
                lists,
            };
            let has_content = message.write(output, &nodes)?;
            Ok(has_content.then_some(message.bytes))
        })
        .collect()
}

/// A message under way. The elements of mere paths come from lists.
struct Message<'a, 'r> {
    outputs: &'a Outputs,
    pieces: &'a mut Pieces,
    reading: &'a Reading<'r>,
    bytes: Vec<u8>,
    /// What is left of the groups: bound nodes, and the lists of each.
    lists: &'a [u32],
}

impl<'a> Message<'a, '_> {
    /// Writes the message; false if it would be nothing but empty pieces.
    fn write(&mut self, output: &Output, nodes: &[u32]) -> Result<bool, String> {
        self.constant(output.before.start, output.before.end);
        let start = self.bytes.len();
        if output.is_set {
            if let Some(Op::Piece(piece)) = self.outputs.ops.get(output.ops.start as usize) {
                let span = self
                    .pieces
                    .evaluate(*piece, nodes, self.reading, &mut |_| {});
                self.copy(span)?;
            }
        } else {
            let ops = &self.outputs.ops[output.ops.start as usize..output.ops.end as usize];
            while let Some((&node, rest)) = self.lists.split_first() {
                self.lists = rest;
                self.node(ops, node)?;
            }
        }
        if output.is_bare && self.bytes.len() == start {
            return Ok(false);
        }
        self.constant(output.after.start, output.after.end);
        Ok(true)
    }

    fn node(&mut self, ops: &[Op], node: u32) -> Result<(), String> {
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

    fn piece(&mut self, piece: u32, node: u32) -> Result<(), String> {
        if self.pieces.steps(piece).is_some() {
            let list = self.next_list();
            if self.reading.record.is_plain() {
                for &element in list {
                    let source = self.reading.record.source_of(element);
                    self.bytes.extend_from_slice(source);
                }
                return Ok(());
            }
        }
        let span = self.pieces.of(piece, node, self.reading, &mut |_| {});
        self.copy(span)
    }

    /// The next list of a group.
    fn next_list(&mut self) -> &'a [u32] {
        let Some((&length, rest)) = self.lists.split_first() else {
            return &[];
        };
        let (list, rest) = rest.split_at(length as usize);
        self.lists = rest;
        list
    }

    fn copy(&mut self, (start, end): (u32, u32)) -> Result<(), String> {
        if end == NONE {
            return Err(self.pieces.errors[start as usize].to_string());
        }
        let bytes = &self.pieces.bytes[start as usize..end as usize];
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn constant(&mut self, start: u32, end: u32) {
        let bytes = &self.outputs.bytes[start as usize..end as usize];
        self.bytes.extend_from_slice(bytes);
    }
}
