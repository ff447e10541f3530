//! Documents one after the other in one stream of bytes: where each begins.
//!
//! Tags are counted as they look, so a document that is not well-formed is cut as well. An XML
//! declaration and a document type declaration stand at the head of a document only, so they begin
//! one wherever they stand.

use crate::tokenizer::Extent;

const XML: &[u8] = b"<?xml";
const DOCTYPE: &[u8] = b"<!DOCTYPE";
const CDATA: &[u8] = b"<![CDATA[";
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// What stands for a character beyond ASCII of a wide encoding: a byte of a name.
const OTHER: u8 = 0xC3;

/// How far a document has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing but white space.
    Nothing,
    /// A mark of byte order, after which its declaration may follow.
    Mark,
    /// The head, and whether there was a document type declaration.
    Prolog(bool),
    /// So many elements are open.
    Content(u64),
    /// The root element has ended.
    Epilog,
}

#[derive(Clone, Debug)]
enum State {
    /// Between tokens, after so many bytes of a mark of byte order.
    Text(usize),
    /// In a token: where it starts, its first bytes, and the last one but for `>`.
    Token {
        start: u64,
        extent: Extent,
        head: Vec<u8>,
        is_empty: bool,
        is_judged: bool,
    },
    /// In a CDATA section, after so many brackets.
    Section(usize),
}

/// How many bytes a character of ASCII has, and which of them says which it is.
#[derive(Clone, Copy, Debug)]
struct Width {
    bytes: usize,
    at: usize,
}

/// Finds the beginnings of documents.
pub struct Cutter {
    width: Option<Width>,
    /// Bytes of a character, or of the first four bytes, that is cut off.
    rest: Vec<u8>,
    narrow: Vec<u8>,
    /// How many characters, or bytes, were read.
    at: u64,
    phase: Phase,
    state: State,
    starts: Vec<u64>,
}

/// Where further documents begin, and up to where this is certain.
pub type Cuts = (Vec<u64>, u64);

impl Cutter {
    /// A cutter at the beginning of a stream.
    #[allow(clippy::new_without_default, reason = "a cutter has a stream")]
    pub fn new() -> Cutter {
        Cutter {
            width: None,
            rest: Vec::new(),
            narrow: Vec::new(),
            at: 0,
            phase: Phase::Nothing,
            state: State::Text(0),
            starts: Vec::new(),
        }
    }

    /// Reads the next bytes. Offsets count all bytes so far.
    pub fn feed(&mut self, piece: &[u8]) -> Cuts {
        let Some(width) = self.width else {
            self.rest.extend_from_slice(piece);
            if self.rest.len() < 4 {
                return (Vec::new(), 0);
            }
            let first = std::mem::take(&mut self.rest);
            self.width = Some(width_of(&first));
            return self.feed(&first);
        };
        if width.bytes == 1 {
            self.read(piece);
        } else {
            self.rest.extend_from_slice(piece);
            let mut narrow = std::mem::take(&mut self.narrow);
            narrow.clear();
            let units = self.rest.chunks_exact(width.bytes);
            let left = units.remainder().len();
            for unit in units {
                narrow.push(narrowed(unit, width.at));
            }
            self.rest.drain(..self.rest.len() - left);
            self.read(&narrow);
            self.narrow = narrow;
        }
        let scale = width.bytes as u64;
        let starts = std::mem::take(&mut self.starts).into_iter();
        (
            starts.map(|start| start * scale).collect(),
            self.certain() * scale,
        )
    }

    /// Up to where it is known which bytes begin a document.
    fn certain(&self) -> u64 {
        match &self.state {
            State::Text(marked) => self.at - *marked as u64,
            State::Token {
                start,
                is_judged: false,
                ..
            } => *start,
            _ => self.at,
        }
    }

    fn read(&mut self, bytes: &[u8]) {
        let mut place = 0;
        while place < bytes.len() {
            let read = match &self.state {
                State::Text(_) => self.text(&bytes[place..]),
                State::Token { .. } => self.token(&bytes[place..]),
                State::Section(_) => self.section(&bytes[place..]),
            };
            place += read;
            self.at += read as u64;
        }
    }

    fn text(&mut self, bytes: &[u8]) -> usize {
        let is_outside = !matches!(self.phase, Phase::Content(_));
        let upto = memchr::memchr(b'<', bytes).unwrap_or(bytes.len());
        if is_outside {
            for (place, byte) in bytes[..upto].iter().enumerate() {
                let State::Text(marked) = &mut self.state else {
                    break;
                };
                *marked = match *byte == MARK[*marked] {
                    true => *marked + 1,
                    false => usize::from(*byte == MARK[0]),
                };
                if *marked == MARK.len() {
                    *marked = 0;
                    let start = self.at + place as u64 + 1 - MARK.len() as u64;
                    self.begin(start, Phase::Mark);
                }
            }
        }
        let marked = match &self.state {
            State::Text(marked) if is_outside => *marked,
            // A mark that stands before a declaration belongs to its document.
            State::Text(marked) => marked_end(*marked, &bytes[..upto]),
            _ => 0,
        };
        self.state = State::Text(marked);
        if upto < bytes.len() {
            let start = self.at + upto as u64;
            self.state = State::Token {
                start: start
                    - if marked == MARK.len() {
                        marked as u64
                    } else {
                        0
                    },
                extent: Extent::Start,
                head: Vec::new(),
                is_empty: false,
                is_judged: false,
            };
        }
        upto
    }

    /// A document begins, unless the one under way has not.
    fn begin(&mut self, start: u64, phase: Phase) {
        if !matches!(self.phase, Phase::Nothing | Phase::Mark) {
            self.starts.push(start);
        }
        self.phase = phase;
    }

    fn token(&mut self, bytes: &[u8]) -> usize {
        let State::Token {
            start,
            extent,
            head,
            is_empty,
            is_judged,
        } = &mut self.state
        else {
            return 0;
        };
        let missing = (CDATA.len() + 1).saturating_sub(head.len());
        head.extend_from_slice(&bytes[..bytes.len().min(missing)]);
        let found = extent.advance(bytes);
        let length = found.unwrap_or(bytes.len());
        let token = &bytes[..length];
        // A tag that another one cuts off ends before it.
        let is_cut = found.is_some() && token.last() == Some(&b'<') && *extent != Extent::Start;
        let length = length - usize::from(is_cut);
        let token = &token[..length];
        match token {
            [.., b'/', b'>'] => *is_empty = true,
            [b'>'] => {}
            [.., last] => *is_empty = *last == b'/',
            [] => {}
        }
        let (start, is_empty) = (*start, *is_empty);
        let seen = head.clone();
        let was_judged = *is_judged;
        if !was_judged {
            let is_whole = found.is_some();
            if let State::Token { is_judged, .. } = &mut self.state {
                *is_judged = is_whole || is_telling(&seen);
            }
            if is_whole || is_telling(&seen) {
                self.judge(start, &seen);
            }
        }
        if found.is_some() {
            self.end_token(&seen, is_empty);
        }
        length
    }

    /// Says whether a document begins with a token whose first bytes are known.
    fn judge(&mut self, start: u64, head: &[u8]) {
        match (head, self.phase) {
            ([b'<', b'!', ..], Phase::Prolog(true)) => {}
            ([b'<', b'!', ..], phase) if head.starts_with(DOCTYPE) => match phase {
                Phase::Nothing | Phase::Mark | Phase::Prolog(false) => {
                    self.phase = Phase::Prolog(true)
                }
                _ => self.begin(start, Phase::Prolog(true)),
            },
            ([b'<', b'?', ..], _) if is_declaration(head) => {
                self.begin(start, Phase::Prolog(false))
            }
            ([b'<', b'/' | b'!' | b'?', ..], Phase::Nothing | Phase::Mark) => {
                self.phase = Phase::Prolog(false);
            }
            ([b'<', b'/' | b'!' | b'?', ..], _) => {}
            (_, Phase::Epilog) => self.begin(start, Phase::Content(0)),
            (_, Phase::Content(_)) => {}
            (_, _) => self.phase = Phase::Content(0),
        }
    }

    fn end_token(&mut self, head: &[u8], is_empty: bool) {
        self.state = State::Text(0);
        let Phase::Content(open) = self.phase else {
            return;
        };
        let open = match head {
            [b'<', b'/', ..] => open.saturating_sub(1),
            [b'<', b'!' | b'?', ..] => {
                if head.starts_with(CDATA) {
                    self.state = State::Section(0);
                }
                return;
            }
            _ if is_empty => open,
            _ => open + 1,
        };
        self.phase = match open {
            0 => Phase::Epilog,
            _ => Phase::Content(open),
        };
    }

    fn section(&mut self, bytes: &[u8]) -> usize {
        let State::Section(brackets) = &mut self.state else {
            return 0;
        };
        if *brackets == 0 {
            let text = memchr::memchr(b']', bytes).unwrap_or(bytes.len());
            if text > 0 {
                return text;
            }
        }
        match bytes[0] {
            b']' => *brackets = (*brackets + 1).min(2),
            b'>' if *brackets == 2 => self.state = State::Text(0),
            _ => *brackets = 0,
        }
        1
    }
}

/// How many bytes of a mark of byte order a text ends with, given those that it begins behind.
fn marked_end(before: usize, text: &[u8]) -> usize {
    let mut end = MARK[..before].to_vec();
    end.extend_from_slice(&text[text.len().saturating_sub(MARK.len())..]);
    let ends = |count: &usize| end.ends_with(&MARK[..*count]);
    (0..=MARK.len()).rev().find(ends).unwrap_or(0)
}

/// Whether the first bytes of a token tell what it is.
fn is_telling(head: &[u8]) -> bool {
    match head {
        [] | [_] => false,
        [_, b'?', ..] => head.len() > XML.len() || !XML.starts_with(head),
        [_, b'!', ..] => head.len() >= DOCTYPE.len() || !DOCTYPE.starts_with(head),
        _ => true,
    }
}

fn is_declaration(head: &[u8]) -> bool {
    let next = head.strip_prefix(XML).and_then(|rest| rest.first());
    next.is_some_and(u8::is_ascii_whitespace)
}

fn width_of(first: &[u8]) -> Width {
    let (bytes, at) = match first {
        [0xFF, 0xFE, 0, 0, ..] | [b'<', 0, 0, 0, ..] => (4, 0),
        [0, 0, 0xFE, 0xFF, ..] | [0, 0, 0, b'<', ..] => (4, 3),
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => (2, 0),
        [0xFE, 0xFF, ..] | [0, b'<', ..] => (2, 1),
        _ => (1, 0),
    };
    Width { bytes, at }
}

/// A character of ASCII, or another one.
fn narrowed(unit: &[u8], at: usize) -> u8 {
    let rest = unit.iter().enumerate().filter(|(place, _)| *place != at);
    let is_ascii = unit[at] < 0x80 && rest.clone().all(|(_, byte)| *byte == 0);
    if is_ascii { unit[at] } else { OTHER }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts(bytes: &[u8], step: usize) -> Vec<u64> {
        let mut cutter = Cutter::new();
        let mut starts = Vec::new();
        let mut certain = 0;
        for piece in bytes.chunks(step) {
            let (found, upto) = cutter.feed(piece);
            assert!(found.iter().all(|start| (certain..=upto).contains(start)));
            assert!(upto >= certain);
            certain = upto;
            starts.extend(found);
        }
        starts
    }

    #[test]
    fn documents_begin_where_their_heads_or_roots_do() {
        for parts in [
            &[
                "<a/>\n",
                "<b><a>]]></a></b> <!--x--> <?p?>",
                "<c d='/>'></c>",
            ][..],
            &[
                "<?xml version='1.0'?><a>",
                "<?xml version='1.0'?>\n<!DOCTYPE a [<!ELEMENT a ANY>]><a/>",
            ],
            &[
                "\u{FEFF}<?xml version='1.0'?><a/>\n",
                "\u{FEFF}<?xml version='1.0'?><a/>",
            ],
            &["<a><![CDATA[<?xml ?></a>]]></a>", "<!DOCTYPE b><b/>"],
            &[
                "<a><!-- <?xml ?> --></a>\n<!-- c -->",
                "<b/>",
                "<b><b/></b>",
            ],
            &["<a><b </b></a>\n", "<c/>"],
            &["<a></a></a>", "<c/>"],
            &["<a>\u{FEFF}<b/>\n", "\u{FEFF}<?xml version='1.0'?><a/>"],
        ] {
            let text = parts.concat();
            let mut expected = Vec::new();
            let mut at = 0;
            for part in &parts[..parts.len() - 1] {
                at += part.len() as u64;
                expected.push(at);
            }
            for step in 1..=text.len() {
                assert_eq!(cuts(text.as_bytes(), step), expected, "{text} by {step}");
            }
            let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            if text.is_ascii() {
                let doubled: Vec<u64> = expected.iter().map(|start| start * 2).collect();
                for step in 1..=wide.len() {
                    assert_eq!(cuts(&wide, step), doubled, "{text} in UTF-16 by {step}");
                }
            }
        }
    }
}
