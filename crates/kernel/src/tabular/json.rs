//! JSON that rows are read back from.

/// Reads JSON that was written here: without white space, names in a known order.
pub struct JsonReader<'a> {
    rest: &'a [u8],
}

impl<'a> JsonReader<'a> {
    pub fn new(rest: &'a [u8]) -> Self {
        JsonReader { rest }
    }

    /// Takes bytes if they come next.
    #[inline]
    pub fn takes(&mut self, expected: &[u8]) -> bool {
        match self.rest.strip_prefix(expected) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes `null` if it comes next.
    #[inline]
    pub fn takes_null(&mut self) -> bool {
        self.rest.first() == Some(&b'n') && self.takes(b"null")
    }

    /// A number, `true` or `false`, as written.
    pub fn word(&mut self) -> &'a [u8] {
        let is_end = |&byte: &u8| matches!(byte, b',' | b']' | b'}');
        let end = self.rest.iter().position(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Appends the characters of a string.
    pub fn string(&mut self, out: &mut Vec<u8>) {
        if !self.takes(b"\"") {
            return;
        }
        while let Some(at) = memchr::memchr2(b'"', b'\\', self.rest) {
            out.extend_from_slice(&self.rest[..at]);
            let is_end = self.rest[at] == b'"';
            self.rest = &self.rest[at + 1..];
            if is_end {
                return;
            }
            self.escaped(out);
        }
    }

    fn escaped(&mut self, out: &mut Vec<u8>) {
        let Some((&code, rest)) = self.rest.split_first() else {
            return;
        };
        self.rest = rest;
        match code {
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                // Only bytes below 0x20 are written so.
                let digits = self
                    .rest
                    .get(2..4)
                    .and_then(|d| std::str::from_utf8(d).ok());
                let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                out.extend(byte);
                self.rest = self.rest.get(4..).unwrap_or_default();
            }
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::write_json;

    #[test]
    fn a_string_is_read_back_as_it_was() {
        for text in ["", "a", "a\"b\\c", "\n\r\t\u{1}é𝄞", "\\u0041", "\"", "\\"] {
            let mut json = Vec::new();
            write_json(text.as_bytes(), &mut json);
            let mut back = Vec::new();
            JsonReader::new(&json).string(&mut back);
            assert_eq!(back, text.as_bytes());
        }
    }
}
