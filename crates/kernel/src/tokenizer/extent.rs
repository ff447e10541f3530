//! Where an incomplete token ends, found byte by byte and resumable between any two.
//!
//! A token is parsed when its end is in view, so that pieces of any size give the same events and
//! the same errors. The end found here is that of every well-formed token; of a malformed one it
//! is the first place at which the parser is sure to fail.

use super::characters::is_name_byte;

/// The state of looking for the end of one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Nothing seen yet.
    Start,
    /// After `<`.
    Open,
    /// After `<!`.
    Bang,
    /// In `<!DOCTYPE` or `<![CDATA[`: how many bytes of the word were seen.
    Word(&'static [u8], usize),
    /// In a start tag, and in a quoted value if the quote is not 0.
    Tag(u8),
    /// In an end tag.
    EndTag,
    /// In a processing instruction; true after a `?`.
    Instruction(bool),
    /// In a comment, after `<!-`, and after so many of the closing dashes.
    CommentOpen,
    /// See above.
    Comment(u8),
    /// In a reference.
    Reference,
    /// In the document type declaration.
    Doctype(Subset),
}

/// What a token is, as far as its length is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A tag, or a reference.
    Tag,
    Comment,
    Instruction,
    Doctype,
}

/// A place in a document type declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subset {
    /// Before `[`, in a literal if the quote is not 0.
    Head(u8),
    /// Between declarations.
    Between,
    /// After `<`.
    Open,
    /// After `<!`.
    Bang,
    /// After `<!-`.
    Dash,
    /// In a declaration, in a literal if the quote is not 0.
    Declaration(u8),
    /// In a comment, after so many dashes.
    Comment(u8),
    /// In a processing instruction; true after a `?`.
    Instruction(bool),
    /// After `]`.
    Tail,
}

const DOCTYPE: &[u8] = b"DOCTYPE";
const CDATA: &[u8] = b"[CDATA[";

impl Extent {
    /// Reads on; the number of bytes up to and including the end of the token, if it is there.
    pub fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &byte) in bytes.iter().enumerate() {
            match self.step(byte) {
                Some(next) => *self = next,
                None => {
                    // A character is never cut.
                    let rest = bytes[at + 1..]
                        .iter()
                        .take_while(|byte| **byte & 0xC0 == 0x80);
                    return Some(at + 1 + rest.count());
                }
            }
        }
        None
    }

    /// What the token is, as far as its length is bounded.
    pub(super) fn token(&self) -> Token {
        match self {
            Extent::Doctype(_) => Token::Doctype,
            Extent::CommentOpen | Extent::Comment(_) => Token::Comment,
            Extent::Instruction(_) => Token::Instruction,
            _ => Token::Tag,
        }
    }

    /// The state after one byte; `None` at the end of the token.
    #[inline]
    fn step(self, byte: u8) -> Option<Extent> {
        use Extent::*;
        Some(match (self, byte) {
            (Start, b'<') => Open,
            (Start, _) => Reference,
            (Open, b'/') => EndTag,
            (Open, b'?') => Instruction(false),
            (Open, b'!') => Bang,
            (Open, b'>' | b'<') => return None,
            (Open, _) => Tag(0),
            (Bang, b'-') => CommentOpen,
            (Bang, b'D') => Word(DOCTYPE, 1),
            (Bang, b'[') => Word(CDATA, 1),
            (Bang, _) => return None,
            (Word(word, seen), _) if word[seen] != byte => return None,
            (Word(word, seen), _) if seen + 1 < word.len() => Word(word, seen + 1),
            (Word(DOCTYPE, _), _) => Doctype(Subset::Head(0)),
            (Word(..), _) => return None,
            (Tag(_), b'<') => return None,
            (Tag(0), b'>') => return None,
            (Tag(0), b'"' | b'\'') => Tag(byte),
            (Tag(quote), _) if quote == byte => Tag(0),
            (Tag(quote), _) => Tag(quote),
            (EndTag, b'>' | b'<') => return None,
            (EndTag, _) => EndTag,
            (Instruction(true), b'>') => return None,
            (Instruction(_), _) => Instruction(byte == b'?'),
            (CommentOpen, b'-') => Comment(0),
            (CommentOpen, _) => return None,
            (Comment(2), _) => return None,
            (Comment(dashes), b'-') => Comment(dashes + 1),
            (Comment(_), _) => Comment(0),
            (Reference, b'#') => Reference,
            (Reference, _) if is_name_byte(byte) => Reference,
            (Reference, _) => return None,
            (Doctype(subset), _) => Doctype(subset.step(byte)?),
        })
    }
}

impl Subset {
    fn step(self, byte: u8) -> Option<Subset> {
        use Subset::*;
        Some(match (self, byte) {
            (Head(0), b'>') | (Tail, b'>') => return None,
            (Head(0), b'[') => Between,
            (Head(0), b'"' | b'\'') => Head(byte),
            (Head(quote), _) if quote == byte => Head(0),
            (Head(quote), _) => Head(quote),
            (Between, b'<') => Open,
            (Between, b']') => Tail,
            (Between, _) => Between,
            (Open, b'!') => Bang,
            (Open, b'?') => Instruction(false),
            // Neither a declaration nor an instruction: the parser fails here.
            (Open, _) => return None,
            (Bang, b'-') => Dash,
            (Bang, b'>') => Between,
            (Bang, _) => Declaration(0),
            (Dash, b'-') => Comment(0),
            (Dash, _) => return None,
            (Declaration(0), b'>') => Between,
            (Declaration(0), b'<') => return None,
            (Declaration(0), b'"' | b'\'') => Declaration(byte),
            (Declaration(quote), _) if quote == byte => Declaration(0),
            (Declaration(quote), _) => Declaration(quote),
            (Comment(2), b'>') => Between,
            (Comment(2), _) => return None,
            (Comment(dashes), b'-') => Comment(dashes + 1),
            (Comment(_), _) => Comment(0),
            (Instruction(true), b'>') => Between,
            (Instruction(_), _) => Instruction(byte == b'?'),
            // White space and `>` only; anything else makes the parser fail.
            (Tail, b' ' | b'\t' | b'\r' | b'\n') => Tail,
            (Tail, _) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(text: &str) -> Option<usize> {
        Extent::Start.advance(text.as_bytes())
    }

    #[test]
    fn tokens_end_where_they_should() {
        for (token, rest) in [
            ("<a b='>' c=\"'>\">", "x>"),
            ("<a b='<", "'>"),
            ("</a >", ">"),
            ("<?p a>b?>", "?>"),
            ("<!--a-b>-->", "-->"),
            ("<!--a--x", "-->"),
            ("<![CDATA[", "x]]>"),
            (
                "<!DOCTYPE a SYSTEM \"]>\" [<!ENTITY b ']>'><!-- ' ]> --><?x ']> ?>%p;] >",
                "<a>",
            ),
            ("<!x", ">"),
            ("<!漢", ">"),
            ("<!DOx", ">"),
            ("&amp;", ";"),
            ("&#x20;", ";"),
            ("&a ", ";"),
        ] {
            assert_eq!(
                extent(&format!("{token}{rest}")),
                Some(token.len()),
                "{token}"
            );
            let cut = token.char_indices().last().map_or(0, |(at, _)| at);
            assert_eq!(extent(&token[..cut]), None, "{token}");
        }
    }
}
