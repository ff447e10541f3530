//! The header of a document: for each view, whether its node is absent, one, or many, and where.
//!
//! ```text
//! "PV"  version  configuration (8 bytes)  flags  length of the document  CRC-32 of the document
//! number of views  their states, four bits each
//! for each node that is one:   start  length  CRC-32 of its bytes  [scope]
//! scopes:  number  for each: number of declarations, each prefix and URI
//! CRC-32 of everything before
//! ```
//!
//! Numbers are varints, checksums four bytes. `docs/notes/headers.md` describes every field.

use crate::varints::{self, Reader};

const MAGIC: &[u8; 2] = b"PV";
/// The version of the encoding. A reader refuses all others.
pub const VERSION: u8 = 1;
/// A configuration has so many views at most.
pub const VIEWS_MAX: usize = 4096;

/// The document is not in UTF-8, so offsets are not places in its bytes: no view is recorded.
const IS_RECODED: u8 = 1;
/// The document declares entities or attributes, so that parts of it do not stand for themselves.
const IS_DECLARING: u8 = 2;

/// Which configuration a header belongs to: a hash of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConfigurationId(pub [u8; 8]);

/// What the bytes of a node are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// From its start tag to its end tag.
    Element,
    /// Name, equals sign and quoted value.
    Attribute,
    /// Character data.
    Text,
}

/// Where the one node of a view is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// What its bytes are.
    pub kind: NodeKind,
    /// Its first byte.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
    /// CRC-32 of its bytes.
    pub checksum: u32,
    /// Place of the namespaces in scope, if its parts may be parsed.
    pub scope: Option<u32>,
}

/// What a header says of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The view has no node.
    Absent,
    /// It has one node.
    One(Place),
    /// It has several nodes.
    Many,
    /// It has a node whose bytes in the document do not say its value: it comes from an entity, or
    /// from a declaration.
    Hidden,
}

/// Prefixes and their URIs.
pub type Scope = Vec<(Vec<u8>, Vec<u8>)>;

/// The header of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The views that it tells of.
    pub configuration: ConfigurationId,
    /// Bytes of the document.
    pub document_bytes: u64,
    /// CRC-32 of the document.
    pub document_checksum: u32,
    /// Whether the document is not in UTF-8.
    pub is_recoded: bool,
    /// Whether the document declares entities or attributes.
    pub is_declaring: bool,
    /// By view; empty for a document that is not in UTF-8.
    pub entries: Vec<Entry>,
    /// Namespaces in scope at nodes whose parts may be parsed.
    pub scopes: Vec<Scope>,
}

/// Why nothing is answered from a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is empty, too short, or its checksum is wrong.
    Damaged,
    /// Another version wrote it.
    Version,
    /// It belongs to another configuration.
    Configuration,
    /// The document has another length.
    Length,
    /// The document is not in UTF-8.
    Encoding,
    /// The bytes of a node are not those that the header was made of.
    Range,
    /// The document is not the one that the header was made of.
    Document,
}

impl Refusal {
    /// Its name in messages and statistics.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::Damaged => "damaged",
            Refusal::Version => "version",
            Refusal::Configuration => "configuration",
            Refusal::Length => "length",
            Refusal::Encoding => "encoding",
            Refusal::Range => "range",
            Refusal::Document => "document",
        }
    }
}

impl Header {
    /// The bytes of the header.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32 + 10 * self.entries.len());
        out.extend_from_slice(MAGIC);
        out.push(VERSION);
        out.extend_from_slice(&self.configuration.0);
        let flags = [
            (self.is_recoded, IS_RECODED),
            (self.is_declaring, IS_DECLARING),
        ];
        out.push(
            flags
                .iter()
                .map(|&(is_set, flag)| if is_set { flag } else { 0 })
                .sum(),
        );
        varints::write(self.document_bytes, &mut out);
        out.extend_from_slice(&self.document_checksum.to_le_bytes());
        varints::write(self.entries.len() as u64, &mut out);
        for pair in self.entries.chunks(2) {
            let second = pair.get(1).map_or(0, state_of);
            out.push(state_of(&pair[0]) | second << 4);
        }
        for entry in &self.entries {
            if let Entry::One(place) = entry {
                varints::write(place.start, &mut out);
                varints::write(place.end - place.start, &mut out);
                out.extend_from_slice(&place.checksum.to_le_bytes());
                if let Some(scope) = place.scope {
                    varints::write(u64::from(scope), &mut out);
                }
            }
        }
        self.write_scopes(&mut out);
        let checksum = crc32fast::hash(&out);
        out.extend_from_slice(&checksum.to_le_bytes());
        out
    }

    fn write_scopes(&self, out: &mut Vec<u8>) {
        varints::write(self.scopes.len() as u64, out);
        for scope in &self.scopes {
            varints::write(scope.len() as u64, out);
            for text in scope.iter().flat_map(|(prefix, uri)| [prefix, uri]) {
                varints::write(text.len() as u64, out);
                out.extend_from_slice(text);
            }
        }
    }

    /// What bytes say. The checksum is seen first, so that damage is never taken for something else.
    pub fn read(bytes: &[u8]) -> Result<Header, Refusal> {
        let (body, checksum) = bytes.split_last_chunk::<4>().ok_or(Refusal::Damaged)?;
        if crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
            return Err(Refusal::Damaged);
        }
        let mut reader = Reader { rest: body };
        if reader.bytes(2) != Some(MAGIC) {
            return Err(Refusal::Damaged);
        }
        if reader.bytes(1) != Some(&[VERSION]) {
            return Err(Refusal::Version);
        }
        Header::read_body(&mut reader).ok_or(Refusal::Damaged)
    }

    fn read_body(reader: &mut Reader<'_>) -> Option<Header> {
        let configuration = ConfigurationId(reader.bytes(8)?.try_into().ok()?);
        let &[flags] = reader.bytes(1)? else {
            return None;
        };
        let document_bytes = reader.number()?;
        let document_checksum = reader.word()?;
        let count = usize::try_from(reader.number()?).ok()?;
        if count > VIEWS_MAX || flags & !(IS_RECODED | IS_DECLARING) != 0 {
            return None;
        }
        let states = reader.bytes(count.div_ceil(2))?;
        let state = |view: usize| states[view / 2] >> (4 * (view % 2)) & 0x0F;
        let mut entries = Vec::with_capacity(count);
        for view in 0..count {
            entries.push(read_entry(state(view), document_bytes, reader)?);
        }
        let scopes = read_scopes(reader)?;
        let knows = |entry: &Entry| match entry {
            Entry::One(place) => place.scope.is_none_or(|at| (at as usize) < scopes.len()),
            _ => true,
        };
        (reader.rest.is_empty() && entries.iter().all(knows)).then_some(Header {
            configuration,
            document_bytes,
            document_checksum,
            is_recoded: flags & IS_RECODED != 0,
            is_declaring: flags & IS_DECLARING != 0,
            entries,
            scopes,
        })
    }

    /// Whether the header may be used for a document: its length, its encoding, and with `is_full`
    /// all its bytes.
    pub fn check(&self, document: &[u8], is_full: bool) -> Result<(), Refusal> {
        if self.is_recoded {
            return Err(Refusal::Encoding);
        }
        if self.document_bytes != document.len() as u64 {
            return Err(Refusal::Length);
        }
        if is_full && crc32fast::hash(document) != self.document_checksum {
            return Err(Refusal::Document);
        }
        Ok(())
    }
}

impl Place {
    /// The bytes of the node, if they are those that the header was made of.
    pub fn bytes_in<'a>(&self, document: &'a [u8]) -> Option<&'a [u8]> {
        let start = usize::try_from(self.start).ok()?;
        let end = usize::try_from(self.end).ok()?;
        let bytes = document.get(start..end)?;
        (crc32fast::hash(bytes) == self.checksum).then_some(bytes)
    }
}

const ABSENT: u8 = 0;
const MANY: u8 = 1;
const HIDDEN: u8 = 2;
const ELEMENT: u8 = 3;
const ATTRIBUTE: u8 = 4;
const TEXT: u8 = 5;
const SCOPED_ELEMENT: u8 = 6;

fn state_of(entry: &Entry) -> u8 {
    match entry {
        Entry::Absent => ABSENT,
        Entry::Many => MANY,
        Entry::Hidden => HIDDEN,
        Entry::One(place) => match (place.kind, place.scope) {
            (NodeKind::Element, None) => ELEMENT,
            (NodeKind::Element, Some(_)) => SCOPED_ELEMENT,
            (NodeKind::Attribute, _) => ATTRIBUTE,
            (NodeKind::Text, _) => TEXT,
        },
    }
}

fn read_entry(state: u8, document_bytes: u64, reader: &mut Reader<'_>) -> Option<Entry> {
    let kind = match state {
        ABSENT => return Some(Entry::Absent),
        MANY => return Some(Entry::Many),
        HIDDEN => return Some(Entry::Hidden),
        ELEMENT | SCOPED_ELEMENT => NodeKind::Element,
        ATTRIBUTE => NodeKind::Attribute,
        TEXT => NodeKind::Text,
        _ => return None,
    };
    let start = reader.number()?;
    let end = start.checked_add(reader.number()?)?;
    let checksum = reader.word()?;
    let scope = match state {
        SCOPED_ELEMENT => Some(u32::try_from(reader.number()?).ok()?),
        _ => None,
    };
    (end <= document_bytes).then_some(Entry::One(Place {
        kind,
        start,
        end,
        checksum,
        scope,
    }))
}

fn read_scopes(reader: &mut Reader<'_>) -> Option<Vec<Scope>> {
    let mut scopes = Vec::new();
    for _ in 0..reader.number()? {
        let mut scope = Vec::new();
        for _ in 0..reader.number()? {
            let prefix = reader.counted_bytes()?.to_vec();
            scope.push((prefix, reader.counted_bytes()?.to_vec()));
        }
        scopes.push(scope);
    }
    Some(scopes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry() -> impl Strategy<Value = Entry> {
        let place = (
            0usize..3,
            0u64..1 << 20,
            0u64..1 << 20,
            any::<u32>(),
            any::<bool>(),
        );
        prop_oneof![
            Just(Entry::Absent),
            Just(Entry::Many),
            Just(Entry::Hidden),
            place.prop_map(|(kind, start, length, checksum, is_scoped)| {
                let kind = [NodeKind::Element, NodeKind::Attribute, NodeKind::Text][kind];
                let scope = (is_scoped && kind == NodeKind::Element).then_some(0);
                Entry::One(Place {
                    kind,
                    start,
                    end: start + length,
                    checksum,
                    scope,
                })
            }),
        ]
    }

    fn header() -> impl Strategy<Value = Header> {
        let scope = prop::collection::vec((any::<Vec<u8>>(), any::<Vec<u8>>()), 0..3);
        (
            prop::collection::vec(entry(), 0..30),
            scope,
            any::<[u8; 8]>(),
            any::<bool>(),
        )
            .prop_map(|(entries, scope, id, is_declaring)| Header {
                configuration: ConfigurationId(id),
                document_bytes: 1 << 21,
                document_checksum: 7,
                is_recoded: false,
                is_declaring,
                entries,
                scopes: vec![scope],
            })
    }

    proptest! {
        #[test]
        fn a_header_is_read_as_it_was_written(header in header()) {
            prop_assert_eq!(Header::read(&header.write()), Ok(header));
        }

        #[test]
        fn a_changed_header_is_damaged(header in header(), place: usize, bit in 0u8..8) {
            let mut bytes = header.write();
            let place = place % bytes.len();
            bytes[place] ^= 1u8 << bit;
            prop_assert_eq!(Header::read(&bytes), Err(Refusal::Damaged));
        }

        #[test]
        fn a_cut_header_is_damaged(header in header(), length: usize) {
            let bytes = header.write();
            let cut = &bytes[..length % bytes.len()];
            prop_assert_eq!(Header::read(cut), Err(Refusal::Damaged));
        }

        #[test]
        fn no_bytes_with_a_right_checksum_break_anything(body: Vec<u8>, id: [u8; 8]) {
            let mut bytes = [&b"PV\x01"[..], &id, &body].concat();
            let checksum = crc32fast::hash(&bytes);
            bytes.extend_from_slice(&checksum.to_le_bytes());
            if let Ok(header) = Header::read(&bytes) {
                prop_assert_eq!(header.write(), bytes);
            }
        }
    }
}
