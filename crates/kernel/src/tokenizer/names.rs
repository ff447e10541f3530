//! The names of a document, each checked and split once.
//!
//! Looking a name up by the name that came before it last time is right for most tags of regular
//! data; otherwise by hash. The table is bounded: see `Names::is_full` and `Core::compact`.

use super::characters::{is_name_byte, is_simple_name, name_end};
use super::namespaces::{Namespaces, PrefixId, UriId};
use crate::events::Symbol;
use std::hash::{BuildHasher, RandomState};

/// The number of a name in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameId(pub u32);

/// The symbol of a name for one namespace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub uri: UriId,
    pub symbol: Symbol,
}

const UNASKED: Bound = Bound {
    uri: UriId::UNBOUND,
    symbol: Symbol(0),
};

/// What an attribute of this name does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It is an attribute.
    Attribute,
    /// It declares the default namespace or a prefix.
    Declaration(PrefixId),
}

/// One name.
#[derive(Debug)]
pub(super) struct Name {
    /// As written.
    pub bytes: Box<[u8]>,
    /// Where the local part starts.
    pub local_start: usize,
    /// The prefix, that of the default namespace if there is none.
    pub prefix: PrefixId,
    /// The local part as a name of its own.
    pub local: NameId,
    /// As an attribute.
    pub role: Role,
    /// As an element, for the namespace it last had.
    pub element: Bound,
    /// As an attribute, likewise.
    pub attribute: Bound,
    hash: u64,
    /// The first sixteen bytes of the name, and which of them count.
    word: u128,
    mask: u128,
    /// What followed the start tag and the end tag of such an element last time.
    next_elements: [NameId; 2],
    next_attribute: NameId,
}

/// The tag before a tag, by which its name is guessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Previous {
    pub name: NameId,
    pub is_end: bool,
}

impl Name {
    /// The part after the colon.
    pub fn local(&self) -> &[u8] {
        &self.bytes[self.local_start..]
    }

    /// Is this the name `bytes`?
    #[inline(always)]
    fn is(&self, bytes: &[u8]) -> bool {
        match bytes.len() == self.bytes.len() {
            true if bytes.len() <= 16 => pack_pair(bytes) == self.word,
            true => *bytes == *self.bytes,
            false => false,
        }
    }

    /// Does `bytes` have exactly this name at `at`, with a byte after it?
    #[inline(always)]
    pub fn stands_at(&self, bytes: &[u8], at: usize) -> bool {
        let end = at + self.bytes.len();
        let Some(&after) = bytes.get(end) else {
            return false;
        };
        // One comparison for names of all usual lengths: a branch on the length would be
        // guessed wrong by the processor every other time.
        let is_equal = match load_pair(bytes, at) {
            Some(word) if self.bytes.len() <= 16 => word & self.mask == self.word,
            _ => bytes[at..end] == *self.bytes,
        };
        is_equal && !is_name_byte(after)
    }
}

const NAMES_MAX: usize = 1 << 16;
const NAME_BYTES_TOTAL_MAX: usize = 8 << 20;

/// The table of names.
pub(super) struct Names {
    names: Vec<Name>,
    /// Open addressing: number of a name plus one, or 0.
    slots: Vec<u32>,
    /// From the system: nobody can prepare names that collide.
    seed: u64,
    bytes_total: usize,
    names_max: usize,
    bytes_max: usize,
}

impl Names {
    pub fn new() -> Self {
        let seed = RandomState::new().hash_one(0_u8) | 1;
        let mut names = Names {
            names: Vec::new(),
            slots: vec![0; 1024],
            seed,
            bytes_total: 0,
            names_max: NAMES_MAX,
            bytes_max: NAME_BYTES_TOTAL_MAX,
        };
        names.seat_nobody();
        names
    }

    /// Number 0 is no name: the predecessor of the first one, and a prediction that never holds.
    fn seat_nobody(&mut self) {
        self.push(b"", 0, 0, PrefixId::DEFAULT, None, Role::Attribute);
    }

    /// Forgets all names.
    pub fn clear(&mut self) {
        self.names.clear();
        self.slots.fill(0);
        self.bytes_total = 0;
        self.seat_nobody();
    }

    /// Has the table outgrown its bound?
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.names.len() > self.names_max || self.bytes_total > self.bytes_max
    }

    /// Sets the bound, after a compaction, to leave room beside the names still in use.
    pub fn leave_room(&mut self) {
        self.names_max = NAMES_MAX.max(self.names.len() * 2);
        self.bytes_max = NAME_BYTES_TOTAL_MAX.max(self.bytes_total * 2);
    }

    /// Forgets what symbols were given to names.
    pub fn forget_symbols(&mut self) {
        for name in &mut self.names {
            name.element = UNASKED;
            name.attribute = UNASKED;
        }
    }

    #[inline(always)]
    pub fn get(&self, id: NameId) -> &Name {
        &self.names[id.0 as usize]
    }

    #[inline(always)]
    pub fn get_mut(&mut self, id: NameId) -> &mut Name {
        &mut self.names[id.0 as usize]
    }

    /// The element name at `at` if it is the one that followed `previous` last time.
    #[inline(always)]
    pub fn guess_element(&self, previous: Previous, bytes: &[u8], at: usize) -> Option<NameId> {
        let guess = self.get(previous.name).next_elements[usize::from(previous.is_end)];
        (guess.0 != 0 && self.get(guess).stands_at(bytes, at)).then_some(guess)
    }

    /// The same for an attribute name; `previous` is the attribute or element before it.
    #[inline(always)]
    pub fn guess_attribute(&self, previous: NameId, bytes: &[u8], at: usize) -> Option<NameId> {
        let guess = self.get(previous).next_attribute;
        (guess.0 != 0 && self.get(guess).stands_at(bytes, at)).then_some(guess)
    }

    /// Remembers what followed `previous`.
    pub fn learn_element(&mut self, previous: Previous, next: NameId) {
        self.get_mut(previous.name).next_elements[usize::from(previous.is_end)] = next;
    }

    /// Remembers what followed `previous`.
    pub fn learn_attribute(&mut self, previous: NameId, next: NameId) {
        self.get_mut(previous).next_attribute = next;
    }

    fn find_hashed(&self, bytes: &[u8], hash: u64) -> Option<NameId> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let entry = self.slots[slot];
            let id = NameId(entry.checked_sub(1)?);
            let name = self.get(id);
            if name.hash == hash && name.is(bytes) {
                return Some(id);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The number of a name, checked on first sight; `None` if it is not a qualified name.
    pub fn intern(&mut self, bytes: &[u8], spaces: &mut Namespaces) -> Option<NameId> {
        let hash = self.hash(bytes);
        if let Some(id) = self.find_hashed(bytes, hash) {
            return Some(id);
        }
        let (prefix, local) = match memchr::memchr(b':', bytes) {
            Some(colon) => (Some(&bytes[..colon]), &bytes[colon + 1..]),
            None => (None, bytes),
        };
        if !is_simple_name(local) || !prefix.is_none_or(is_simple_name) {
            return None;
        }
        let local_id = match prefix {
            Some(_) => Some(self.intern(local, spaces)?),
            None => None,
        };
        let role = match (prefix, bytes) {
            (Some(b"xmlns"), _) => Role::Declaration(spaces.prefix(local)),
            (None, b"xmlns") => Role::Declaration(PrefixId::DEFAULT),
            _ => Role::Attribute,
        };
        let prefix_id = prefix.map_or(PrefixId::DEFAULT, |prefix| spaces.prefix(prefix));
        let local_start = bytes.len() - local.len();
        Some(self.push(bytes, hash, local_start, prefix_id, local_id, role))
    }

    fn push(
        &mut self,
        bytes: &[u8],
        hash: u64,
        local_start: usize,
        prefix: PrefixId,
        local: Option<NameId>,
        role: Role,
    ) -> NameId {
        let id = NameId(self.names.len() as u32);
        let short = bytes.len().min(16);
        self.names.push(Name {
            bytes: bytes.into(),
            local_start,
            prefix,
            local: local.unwrap_or(id),
            role,
            element: UNASKED,
            attribute: UNASKED,
            hash,
            word: pack_pair(&bytes[..short]),
            mask: u128::MAX >> (128 - 8 * short.max(1)),
            next_elements: [NameId(0); 2],
            next_attribute: NameId(0),
        });
        self.bytes_total += bytes.len();
        if id.0 != 0 {
            self.seat(id);
        }
        id
    }

    /// Puts a name into its slot, in a larger table if this one is half full.
    fn seat(&mut self, id: NameId) {
        if self.names.len() * 2 > self.slots.len() {
            self.slots = vec![0; self.slots.len() * 2];
            (1..self.names.len() as u32).for_each(|other| self.place(NameId(other)));
        } else {
            self.place(id);
        }
    }

    fn place(&mut self, id: NameId) {
        let mask = self.slots.len() - 1;
        let mut slot = self.get(id).hash as usize & mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = id.0 + 1;
    }

    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        let mut hash = self.seed ^ bytes.len() as u64;
        let mut rest = bytes;
        while rest.len() > 8
            && let Some((eight, more)) = rest.split_first_chunk()
        {
            hash = fold(hash ^ u64::from_le_bytes(*eight));
            rest = more;
        }
        fold(fold(hash ^ pack(rest)) ^ self.seed)
    }
}

/// Up to eight bytes as a number, first byte lowest.
#[inline(always)]
fn pack(bytes: &[u8]) -> u64 {
    if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // The two halves may overlap, and agree where they do.
        let shift = 8 * (bytes.len() - 4) as u32;
        return u64::from(u32::from_le_bytes(*head))
            | u64::from(u32::from_le_bytes(*tail)) << shift;
    }
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Up to sixteen bytes as a number, first byte lowest.
#[inline(always)]
fn pack_pair(bytes: &[u8]) -> u128 {
    match bytes.split_first_chunk() {
        None => pack(bytes).into(),
        Some((head, tail)) => u128::from(u64::from_le_bytes(*head)) | u128::from(pack(tail)) << 64,
    }
}

/// The sixteen bytes at `at`, first byte lowest.
#[inline(always)]
fn load_pair(bytes: &[u8], at: usize) -> Option<u128> {
    let sixteen = bytes.get(at..)?.first_chunk()?;
    Some(u128::from_le_bytes(*sixteen))
}

/// Both halves of a wide product, so that every input bit reaches the low bits.
#[inline(always)]
fn fold(word: u64) -> u64 {
    let product = u128::from(word) * 0x9E37_79B9_7F4A_7C15_u128;
    (product as u64) ^ ((product >> 64) as u64)
}

/// The bytes of a name at `at`; `None` if they reach the end of the input.
#[inline(always)]
pub(super) fn name_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let end = name_end(bytes, at);
    (end < bytes.len()).then(|| &bytes[at..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Names {
        fn find(&self, bytes: &[u8]) -> Option<NameId> {
            self.find_hashed(bytes, self.hash(bytes))
        }
    }

    #[test]
    fn a_name_is_one_number() {
        let (mut names, mut spaces) = (Names::new(), Namespaces::new());
        let first = names.intern(b"p:item", &mut spaces).expect("a name");
        assert_eq!(names.intern(b"p:item", &mut spaces), Some(first));
        assert_eq!(names.get(first).local(), b"item");
        assert_eq!(names.find(b"item"), Some(names.get(first).local));
        for bad in ["", "1", ":a", "a:", "a:b:c", "a:1", "\u{D7}"] {
            assert_eq!(names.intern(bad.as_bytes(), &mut spaces), None, "{bad}");
        }
    }

    #[test]
    fn many_names_are_found_again_until_cleared() {
        let (mut names, mut spaces) = (Names::new(), Namespaces::new());
        let ids: Vec<_> = (0..5000)
            .map(|i| names.intern(format!("n{i}").as_bytes(), &mut spaces))
            .collect();
        for (i, id) in ids.iter().enumerate() {
            assert_eq!(names.find(format!("n{i}").as_bytes()), *id);
        }
        names.clear();
        assert_eq!(names.find(b"n1"), None);
    }

    #[test]
    fn packing_puts_the_first_byte_lowest() {
        let mut word = [0; 16];
        for length in 0..=16 {
            let bytes = &b"\xFFbcdefg\x80\xFEjklmno\x80"[..length];
            word[..length].copy_from_slice(bytes);
            assert_eq!(pack_pair(bytes), u128::from_le_bytes(word), "{length}");
        }
    }

    #[test]
    fn a_guess_needs_the_whole_name() {
        let (mut names, mut spaces) = (Names::new(), Namespaces::new());
        for text in [
            "item",
            "item_name",
            "a_very_long_name",
            "an_even_longer_name",
        ] {
            let id = names.intern(text.as_bytes(), &mut spaces).expect("a name");
            names.learn_element(Previous::default(), id);
            for (tail, hit) in [
                (">", true),
                (" a='12345678'", true),
                ("s>", false),
                ("", false),
            ] {
                let bytes = format!("{text}{tail}");
                let guess = names.guess_element(Previous::default(), bytes.as_bytes(), 0);
                assert_eq!(guess.is_some(), hit, "{bytes}");
            }
        }
    }
}
