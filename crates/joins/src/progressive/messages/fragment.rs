//! The fragment of a binding: its origin, who selected it, and its pieces.

/// What a message needs of a binding.
#[derive(Clone, Copy, Debug)]
pub struct Fragment<'a> {
    /// The id of its document.
    pub document: &'a [u8],
    /// Its number among the bindings of its side in that document.
    pub number: u32,
    selected: &'a [u8],
    lengths: &'a [u8],
    pieces: &'a [u8],
}

impl<'a> Fragment<'a> {
    /// Writes a fragment; pieces lose their wrappers if they `are_bare`.
    pub fn write<'p>(
        (document, number): (&[u8], u32),
        selected: &[u32],
        pieces: impl Iterator<Item = &'p [u8]> + Clone,
        are_bare: bool,
        out: &mut Vec<u8>,
    ) {
        let unwrapped = pieces.map(|piece| if are_bare { unwrap(piece) } else { piece });
        let counts = [
            document.len(),
            number as usize,
            selected.len(),
            unwrapped.clone().count(),
        ];
        for count in counts {
            out.extend_from_slice(&(count as u32).to_le_bytes());
        }
        for subscription in selected {
            out.extend_from_slice(&subscription.to_le_bytes());
        }
        for piece in unwrapped.clone() {
            out.extend_from_slice(&(piece.len() as u32).to_le_bytes());
        }
        out.extend_from_slice(document);
        unwrapped.for_each(|piece| out.extend_from_slice(piece));
    }

    /// Reads what `write` wrote.
    pub fn of(bytes: &'a [u8]) -> Fragment<'a> {
        let (head, rest) = bytes.split_at(16);
        let count = |at: usize| word(head, at) as usize;
        let (selected, rest) = rest.split_at(4 * count(2));
        let (lengths, rest) = rest.split_at(4 * count(3));
        let (document, pieces) = rest.split_at(count(0));
        Fragment {
            document,
            number: word(head, 1),
            selected,
            lengths,
            pieces,
        }
    }

    /// Whether a subscription selected it.
    pub fn is_selected_by(&self, subscription: u32) -> bool {
        let (mut low, mut high) = (0, self.selected.len() / 4);
        while low < high {
            let middle = (low + high) / 2;
            match word(self.selected, middle).cmp(&subscription) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        false
    }

    /// The subscriptions that selected it, in order.
    pub fn selected(&self) -> impl Iterator<Item = u32> + use<'a> {
        let words = self.selected;
        (0..words.len() / 4).map(move |at| word(words, at))
    }

    /// Its pieces.
    pub fn pieces(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (lengths, mut rest) = (self.lengths, self.pieces);
        (0..lengths.len() / 4).map(move |at| {
            let (piece, after) = rest.split_at(word(lengths, at) as usize);
            rest = after;
            piece
        })
    }
}

fn word(words: &[u8], at: usize) -> u32 {
    let word = &words[4 * at..4 * at + 4];
    u32::from_le_bytes([word[0], word[1], word[2], word[3]])
}

/// Takes a piece out of its wrapper, whose name says what it is.
///
/// | wrapper | piece |
/// | --- | --- |
/// | `<p>…</p>`, `<p/>` | content |
/// | `<t …/>` | attributes, for the start tag, with a space before each |
/// | `<v a="…"/>` | characters of an attribute |
///
/// The name of a last piece is a capital.
fn unwrap(piece: &[u8]) -> &[u8] {
    let rest = piece.get(2..).unwrap_or_default();
    let Some(tag) = rest.strip_suffix(b"/>") else {
        let content = rest.get(1..rest.len().saturating_sub(4));
        return content.unwrap_or_default();
    };
    if !piece[1].eq_ignore_ascii_case(&b'v') {
        return tag;
    }
    let value = tag.strip_prefix(b" a=\"");
    let value = value.and_then(|value| value.strip_suffix(b"\""));
    value.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_taken_out_of_their_wrappers() {
        for (wrapped, piece) in [
            ("<p/>", ""),
            ("<P><a/>x</P>", "<a/>x"),
            ("<p><a></a></p>", "<a></a>"),
            ("<p><b/></p>", "<b/>"),
            ("<p>1&lt;2/></p>", "1&lt;2/>"),
            ("<t id=\"1\"/>", " id=\"1\""),
            ("<t/>", ""),
            ("<V a=\"\"/>", ""),
            ("<v a=\"a b\"/>", "a b"),
        ] {
            let found = unwrap(wrapped.as_bytes());
            assert_eq!(found, piece.as_bytes(), "{wrapped}");
        }
    }

    #[test]
    fn fragments_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        let pieces = [&b"<p>one</p>"[..], b"<p/>", b"<V a=\"2\"/>"];
        Fragment::write((b"d7", 3), &[2, 5, 9], pieces.into_iter(), true, &mut bytes);
        let fragment = Fragment::of(&bytes);
        assert_eq!((fragment.document, fragment.number), (&b"d7"[..], 3));
        assert_eq!(fragment.selected().collect::<Vec<_>>(), [2, 5, 9]);
        for subscription in 0..12 {
            let is_there = [2, 5, 9].contains(&subscription);
            assert_eq!(fragment.is_selected_by(subscription), is_there);
        }
        let found: Vec<_> = fragment.pieces().collect();
        assert_eq!(found, [&b"one"[..], b"", b"2"]);
        bytes.clear();
        Fragment::write((b"", 0), &[], pieces.into_iter().take(1), false, &mut bytes);
        let found: Vec<_> = Fragment::of(&bytes).pieces().collect();
        assert_eq!(found, [&b"<p>one</p>"[..]]);
    }
}
