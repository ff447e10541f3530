//! Writes the header of a document from the rows of its views.

use crate::documents::{is_declaring, is_utf8};
use crate::header::{ConfigurationId, Entry, Header, NodeKind, Place, Scope};
use crate::values::string_value;
use penstock_kernel::rows::{RowKind, Rows};

/// The views of a configuration, and what is known of them in one document beside rows.
pub struct Stamping<'a> {
    /// Which configuration.
    pub configuration: ConfigurationId,
    /// By view: whether parts of its node may be parsed.
    pub parted: &'a [bool],
    /// Views with several nodes.
    pub many: &'a [usize],
    /// Views that could not be evaluated.
    pub hidden: &'a [usize],
}

impl Stamping<'_> {
    /// The header of a document. The first subscriptions of the rows are views; others are queries
    /// that were read in the same pass.
    pub fn stamp(&self, document: &[u8], encoding: Option<&str>, rows: &Rows) -> Header {
        let is_recoded = !is_utf8(document, encoding);
        let view_count = if is_recoded { 0 } else { self.parted.len() };
        let mut header = Header {
            configuration: self.configuration,
            document_bytes: document.len() as u64,
            document_checksum: crc32fast::hash(document),
            is_recoded,
            is_declaring: is_declaring(document),
            entries: vec![Entry::Absent; view_count],
            scopes: Vec::new(),
        };
        if is_recoded {
            return header;
        }
        for row in 0..rows.len() {
            let view = rows.subscription[row].0 as usize;
            let entry = match header.entries.get(view) {
                None => continue,
                Some(Entry::Absent) => self.entry_of(&mut header, document, rows, row),
                Some(_) => Entry::Many,
            };
            header.entries[view] = entry;
        }
        for (views, entry) in [(self.hidden, Entry::Hidden), (self.many, Entry::Many)] {
            for &view in views.iter().filter(|&&view| view < view_count) {
                header.entries[view] = entry;
            }
        }
        header
    }

    /// What a header says of the node of a row. Only nodes whose value stands in their own bytes
    /// have a place; attributes that declarations may change have none.
    fn entry_of(&self, header: &mut Header, document: &[u8], rows: &Rows, row: usize) -> Entry {
        let kind = match rows.kind[row] {
            kind if kind == RowKind::Element as u8 => NodeKind::Element,
            kind if kind == RowKind::Attribute as u8 && !header.is_declaring => NodeKind::Attribute,
            kind if kind == RowKind::Text as u8 => NodeKind::Text,
            _ => return Entry::Hidden,
        };
        let (start, end) = (rows.start[row], rows.end[row]);
        let bytes = match (usize::try_from(start), usize::try_from(end)) {
            (Ok(start), Ok(end)) => document.get(start..end),
            _ => None,
        };
        let Some(bytes) = bytes.filter(|bytes| is_readable(kind, bytes)) else {
            return Entry::Hidden;
        };
        let view = rows.subscription[row].0 as usize;
        let has_parts = self.parted[view] && kind == NodeKind::Element && !header.is_declaring;
        Entry::One(Place {
            kind,
            start: start as u64,
            end: end as u64,
            checksum: crc32fast::hash(bytes),
            scope: has_parts.then(|| scope_of(header, rows, row)),
        })
    }
}

/// Whether the value of a node stands in its bytes. What has no reference needs no second look.
fn is_readable(kind: NodeKind, bytes: &[u8]) -> bool {
    let is_plain_element = kind == NodeKind::Element
        && bytes.first() == Some(&b'<')
        && memchr::memchr(b'&', bytes).is_none();
    is_plain_element || string_value(kind, bytes).is_some()
}

/// The place of the namespaces in scope at the node of a row, each scope once.
fn scope_of(header: &mut Header, rows: &Rows, row: usize) -> u32 {
    let declared = usize::try_from(rows.scope[row]).ok();
    let declared = declared.and_then(|place| rows.scopes.get(place));
    let declared = declared.into_iter().flatten();
    let scope: Scope = declared
        .map(|(prefix, uri)| (prefix.to_vec(), uri.to_vec()))
        .collect();
    let known = header.scopes.iter().position(|other| *other == scope);
    let place = known.unwrap_or_else(|| {
        header.scopes.push(scope);
        header.scopes.len() - 1
    });
    place as u32
}
