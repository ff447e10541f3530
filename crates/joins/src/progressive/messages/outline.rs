//! A message as constant bytes and pieces of fragments.

use super::super::graph::StreamId;
use penstock_kernel::plan::{ProgramError, Reader};
use penstock_sequences::eval::markup;
use smallvec::SmallVec;
use std::fmt;

/// Elements may be nested so deeply.
const DEPTH_MAX: usize = 128;

/// These bytes are no outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineError(String);

impl OutlineError {
    /// What is wrong.
    pub fn new(reason: &str) -> OutlineError {
        OutlineError(reason.into())
    }
}

impl fmt::Display for OutlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OutlineError {}

impl From<ProgramError> for OutlineError {
    fn from(error: ProgramError) -> Self {
        OutlineError(error.to_string())
    }
}

/// A piece: the place of its side, and its own place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PieceId {
    side: StreamId,
    place: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Characters as they are written.
    Bytes(Box<[u8]>),
    Piece(PieceId),
    Element(Element),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Element {
    /// The name, without brackets.
    name: Box<[u8]>,
    /// What stands in the start tag behind the name.
    tag: Vec<Part>,
    content: Vec<Part>,
}

/// The pieces of a tuple, by side.
pub(super) type Pieces<'a> = SmallVec<[SmallVec<[&'a [u8]; 4]>; 4]>;

impl PieceId {
    fn of<'a>(&self, pieces: &Pieces<'a>) -> &'a [u8] {
        pieces[self.side.index()][self.place as usize]
    }
}

/// How the message of a tuple is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    root: Element,
    pieces: Vec<PieceId>,
}

impl Outline {
    /// Reads the bytes of an outline; `piece_counts` has the number of pieces of each side.
    ///
    /// # Errors
    /// They are none.
    pub fn read(bytes: &[u8], piece_counts: &[u32]) -> Result<Outline, OutlineError> {
        let mut reading = Reading {
            reader: Reader::new(bytes),
            piece_counts,
            pieces: Vec::new(),
        };
        let root = reading.element(DEPTH_MAX)?;
        let Reading { reader, pieces, .. } = reading;
        reader.end()?;
        Ok(Outline { root, pieces })
    }

    /// How many bytes the pieces of a message have.
    pub(super) fn piece_bytes(&self, pieces: &Pieces<'_>) -> usize {
        let sizes = self.pieces.iter().map(|piece| piece.of(pieces).len());
        sizes.sum()
    }

    /// Appends the message of a tuple.
    pub(super) fn write(&self, pieces: &Pieces<'_>, out: &mut Vec<u8>) {
        self.root.write(pieces, out);
    }
}

impl Element {
    fn write(&self, pieces: &Pieces<'_>, out: &mut Vec<u8>) {
        out.push(b'<');
        out.extend_from_slice(&self.name);
        self.tag.iter().for_each(|part| part.write(pieces, out));
        out.push(b'>');
        let start = out.len();
        self.content.iter().for_each(|part| part.write(pieces, out));
        if out.len() == start {
            out.pop();
            out.extend_from_slice(b"/>");
        } else {
            out.extend_from_slice(b"</");
            out.extend_from_slice(&self.name);
            out.push(b'>');
        }
    }
}

impl Part {
    fn write(&self, pieces: &Pieces<'_>, out: &mut Vec<u8>) {
        match self {
            Part::Bytes(bytes) => out.extend_from_slice(bytes),
            Part::Piece(piece) => out.extend_from_slice(piece.of(pieces)),
            Part::Element(element) => element.write(pieces, out),
        }
    }
}

struct Reading<'a> {
    reader: Reader<'a>,
    piece_counts: &'a [u32],
    pieces: Vec<PieceId>,
}

impl Reading<'_> {
    fn element(&mut self, depth: usize) -> Result<Element, OutlineError> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(OutlineError("its elements are nested too deeply".into()));
        };
        let name = self.reader.text()?.as_bytes().into();
        let mut tag = Vec::new();
        for _ in 0..self.reader.count()? {
            self.attribute(&mut tag)?;
        }
        for _ in 0..self.reader.count()? {
            tag.push(Part::Piece(self.piece()?));
        }
        let mut content = Vec::new();
        for _ in 0..self.reader.count()? {
            content.push(match self.reader.below(3)? {
                0 => {
                    let mut bytes = Vec::new();
                    markup::escape(self.reader.text()?.as_bytes(), &mut bytes);
                    Part::Bytes(bytes.into())
                }
                1 => Part::Piece(self.piece()?),
                _ => Part::Element(self.element(depth)?),
            });
        }
        Ok(Element { name, tag, content })
    }

    fn attribute(&mut self, tag: &mut Vec<Part>) -> Result<(), OutlineError> {
        let name = self.reader.text()?.to_owned();
        // Between the quotes of an attribute that is empty goes the value.
        let mut around = Vec::new();
        markup::attribute("", &name, b"", &mut around);
        around.pop();
        tag.push(Part::Bytes(around.into()));
        for _ in 0..self.reader.count()? {
            if self.reader.below(2)? == 1 {
                tag.push(Part::Piece(self.piece()?));
                continue;
            }
            let mut written = Vec::new();
            markup::attribute("", "", self.reader.text()?.as_bytes(), &mut written);
            // A space, an equals sign and a quote stand before it, a quote behind it.
            tag.push(Part::Bytes(written[3..written.len() - 1].into()));
        }
        tag.push(Part::Bytes(b"\"".as_slice().into()));
        Ok(())
    }

    fn piece(&mut self) -> Result<PieceId, OutlineError> {
        let side = self.reader.below(self.piece_counts.len())?;
        let count = self.piece_counts[side as usize];
        let piece = PieceId {
            side: StreamId(side as u8),
            place: self.reader.below(count as usize)?,
        };
        self.pieces.push(piece);
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `<m k="a[0.0]">[1.0]t&lt;<n/></m>`
    const BYTES: &[u8] =
        b"\x01m\x01\x01k\x02\0\x01a\x01\0\0\0\x03\x01\x01\0\0\x02t<\x02\x01n\0\0\0";

    #[test]
    fn a_message_is_constant_characters_with_pieces_between() -> Result<(), OutlineError> {
        let outline = Outline::read(BYTES, &[1, 1])?;
        let mut out = Vec::new();
        let given = [&b"&amp;"[..], b"<x/>"];
        let given = given
            .into_iter()
            .map(|piece| std::iter::once(piece).collect());
        let given: Pieces<'_> = given.collect();
        outline.write(&given, &mut out);
        assert_eq!(out, b"<m k=\"a&amp;\"><x/>t&lt;<n/></m>");
        assert_eq!(outline.piece_bytes(&given), 9);
        Ok(())
    }

    #[test]
    fn bytes_that_are_no_outline_are_rejected() {
        assert!(Outline::read(BYTES, &[1]).is_err());
        assert!(Outline::read(BYTES, &[0, 1]).is_err());
        for end in 0..BYTES.len() {
            assert!(Outline::read(&BYTES[..end], &[1, 1]).is_err(), "{end}");
        }
        let deep: Vec<u8> = b"\0"
            .iter()
            .chain(&b"\x01a\0\0\x01\x02".repeat(200))
            .copied()
            .collect();
        assert!(Outline::read(&deep, &[1, 1]).is_err());
    }
}
