//! Results as columns, laid out as Arrow lays them out.

use super::matches::Matches;
use super::selections::{self, Selections};
use crate::events::{Declarations, Scope};
use crate::ids::{DocumentId, SubscriptionId, TargetId};
use crate::vocabulary::NodeKind;
use std::rc::Rc;
use std::sync::Arc;

/// What a row is. The numbers are part of the contract with the binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RowKind {
    /// The document node.
    Document = 0,
    /// An element.
    Element = 1,
    /// An attribute.
    Attribute = 2,
    /// A text node.
    Text = 3,
    /// A comment.
    Comment = 4,
    /// A processing instruction.
    Instruction = 5,
    /// A namespace in scope.
    Namespace = 6,
    /// A number.
    Number = 7,
    /// A string.
    String = 8,
    /// A boolean.
    Boolean = 9,
    /// A constructed message.
    Message = 10,
    /// A document matched, in filter mode.
    Match = 12,
    /// A record as a row of a table, in JSON.
    Record = 14,
}

impl RowKind {
    /// What a node of this kind becomes.
    pub(crate) fn of(kind: NodeKind) -> RowKind {
        match kind {
            NodeKind::Document => RowKind::Document,
            NodeKind::Attribute => RowKind::Attribute,
            NodeKind::Text => RowKind::Text,
            NodeKind::Comment => RowKind::Comment,
            NodeKind::Instruction => RowKind::Instruction,
            NodeKind::Namespace => RowKind::Namespace,
            NodeKind::Any | NodeKind::Element => RowKind::Element,
        }
    }
}

/// A column of strings: `offsets[i]..offsets[i + 1]` of `bytes`.
#[derive(Debug)]
pub struct TextColumn {
    /// One more than there are rows.
    pub offsets: Vec<i32>,
    /// All values behind each other.
    pub bytes: Vec<u8>,
}

impl Default for TextColumn {
    fn default() -> Self {
        TextColumn {
            offsets: vec![0],
            bytes: Vec::new(),
        }
    }
}

impl TextColumn {
    /// Ends the value that was appended to `bytes`.
    pub fn finish_value(&mut self) {
        self.offsets.push(self.bytes.len() as i32);
    }

    /// The value of a row.
    pub fn value(&self, row: usize) -> &[u8] {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }
}

/// Values beside a result, in the order of its query; none where there is no such node.
pub type Bindings = Rc<[Option<Rc<str>>]>;

/// Names the values beside rows. It is the plan, of which rows know no more than this.
pub trait Naming: Send + Sync {
    /// The name of a value beside the results of a target, by its place.
    fn name_beside(&self, target: TargetId, place: usize) -> &[u8];
}

/// The values beside a row. They share nothing with the automaton, so rows may change threads.
pub struct Beside {
    /// Number of the row.
    pub row: u32,
    names: Arc<dyn Naming>,
    target: TargetId,
    values: Box<[Option<Box<str>>]>,
}

impl Beside {
    /// Names and values, in the order of the query; none where there is no such node.
    pub fn pairs(&self) -> impl Iterator<Item = (&[u8], Option<&str>)> {
        let values = self.values.iter().enumerate();
        values.map(|(place, value)| (self.names.name_beside(self.target, place), value.as_deref()))
    }
}

/// Finished rows, column by column.
#[derive(Default)]
pub struct Rows {
    /// The documents.
    pub document: Vec<DocumentId>,
    /// The subscriptions.
    pub subscription: Vec<SubscriptionId>,
    /// Order of decision per subscription and document.
    pub ordinal: Vec<i64>,
    /// `RowKind` codes.
    pub kind: Vec<u8>,
    /// `{uri}local`, target, or empty.
    pub name: TextColumn,
    /// Source text or string value.
    pub value: TextColumn,
    /// First byte; -1 for an atomic value.
    pub start: Vec<i64>,
    /// One past the last byte; -1 for an atomic value or an unfinished part.
    pub end: Vec<i64>,
    /// Offset just past the deciding event.
    pub decided_at: Vec<i64>,
    /// Number of the node in document order.
    pub node: Vec<i64>,
    /// Place in `scopes`, or -1.
    pub scope: Vec<i32>,
    /// Declarations in scope where results start.
    pub scopes: Vec<Declarations>,
    /// Values beside rows, in the order of the rows.
    pub bindings: Vec<Beside>,
    /// Rows of filters that are not spread out among the others yet.
    pub matches: Matches,
    /// The same of queries.
    pub selections: Selections,
    last_scope: Option<Rc<Scope>>,
}

/// The fixed-size part of a row.
#[derive(Clone, Copy, Debug)]
pub struct RowHead {
    pub document: DocumentId,
    pub subscription: SubscriptionId,
    pub ordinal: u64,
    pub kind: RowKind,
    /// Start and end; none for an atomic value.
    pub span: Option<(u64, Option<u64>)>,
    pub decided_at: u64,
    pub node: u64,
}

/// Room is made for so many entries at most.
const ROOM_MAX: usize = 1 << 20;

/// Where rows end.
pub(crate) struct Mark {
    length: usize,
    matches: (usize, usize),
    selections: selections::Mark,
}

impl Rows {
    /// No rows, with room for as many in bulk.
    pub fn like(&self) -> Rows {
        let mut rows = Rows::default();
        rows.matches
            .reserve(self.matches.len().min(ROOM_MAX), false);
        let entries = self.selections.subscription.len();
        rows.selections.reserve(entries.min(ROOM_MAX));
        rows
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// Drops the rows behind the first `length`, and what is there of a row that was broken off.
    /// None of them is in bulk.
    pub(crate) fn truncate(&mut self, length: usize) {
        let numbers = [
            self.document.len(),
            self.subscription.len(),
            self.scope.len(),
        ];
        let length = numbers.into_iter().fold(length, usize::min);
        self.document.truncate(length);
        self.subscription.truncate(length);
        self.kind.truncate(length);
        self.scope.truncate(length);
        for column in [&mut self.name, &mut self.value] {
            column.offsets.truncate(length + 1);
            let end = column.offsets.last().copied().unwrap_or(0);
            column.bytes.truncate(end as usize);
        }
        let offsets = [&mut self.ordinal, &mut self.start, &mut self.end];
        for column in offsets
            .into_iter()
            .chain([&mut self.decided_at, &mut self.node])
        {
            column.truncate(length);
        }
        self.bindings
            .retain(|values| (values.row as usize) < length);
    }

    /// Adds a row whose value was appended to `value.bytes` already; so may part of its name be.
    pub fn push(&mut self, head: RowHead, name: &[u8], scope: Option<&Rc<Scope>>) {
        self.document.push(head.document);
        self.subscription.push(head.subscription);
        self.ordinal.push(head.ordinal as i64);
        self.kind.push(head.kind as u8);
        self.name.bytes.extend_from_slice(name);
        self.name.finish_value();
        self.value.finish_value();
        let (start, end) = head
            .span
            .map_or((-1, -1), |(s, e)| (s as i64, e.map_or(-1, |e| e as i64)));
        self.start.push(start);
        self.end.push(end);
        self.decided_at.push(head.decided_at as i64);
        self.node.push(head.node as i64);
        let scope = scope.map_or(-1, |scope| self.scope_index(scope));
        self.scope.push(scope);
    }

    /// Puts the values of a target beside the last row.
    pub(crate) fn bind<N: Naming + 'static>(
        &mut self,
        names: &Arc<N>,
        target: TargetId,
        bindings: Option<&Bindings>,
    ) {
        if let Some(bindings) = bindings {
            let values = bindings.iter().map(|value| value.as_deref().map(Box::from));
            self.bindings.push(Beside {
                row: self.len() as u32 - 1,
                names: names.clone(),
                target,
                values: values.collect(),
            });
        }
    }

    /// Takes over the declarations that other rows refer to; the number of the first of them.
    pub(crate) fn add_scopes(&mut self, other: &Rows) -> i32 {
        let first = self.scopes.len() as i32;
        self.scopes.extend_from_slice(&other.scopes);
        first
    }

    /// Adds a row of others for a subscription, without the values beside it; `first_scope` is from
    /// `add_scopes`.
    pub(crate) fn append_row(
        &mut self,
        other: &Rows,
        row: usize,
        subscription: SubscriptionId,
        first_scope: i32,
    ) {
        self.value.bytes.extend_from_slice(other.value.value(row));
        let scope = other.scope[row];
        self.scope
            .push(if scope < 0 { -1 } else { scope + first_scope });
        self.append_rest(other, row, subscription);
    }

    /// The same without its value and what that would need.
    pub(super) fn append_bare(&mut self, other: &Rows, row: usize, subscription: SubscriptionId) {
        self.scope.push(-1);
        self.append_rest(other, row, subscription);
    }

    fn append_rest(&mut self, other: &Rows, row: usize, subscription: SubscriptionId) {
        self.document.push(other.document[row]);
        self.subscription.push(subscription);
        self.ordinal.push(other.ordinal[row]);
        self.kind.push(other.kind[row]);
        self.name.bytes.extend_from_slice(other.name.value(row));
        self.name.finish_value();
        self.value.finish_value();
        self.start.push(other.start[row]);
        self.end.push(other.end[row]);
        self.decided_at.push(other.decided_at[row]);
        self.node.push(other.node[row]);
    }

    /// Adds all rows of others, which have nothing in bulk.
    pub(crate) fn append(&mut self, mut other: Rows) {
        let has_nothing = self.is_empty() && self.scopes.is_empty() && self.bindings.is_empty();
        if has_nothing && self.matches.is_empty() && self.selections.is_empty() {
            *self = other;
            return;
        }
        let first = self.add_scopes(&other);
        let mut beside = std::mem::take(&mut other.bindings).into_iter().peekable();
        for row in 0..other.len() {
            self.append_row(&other, row, other.subscription[row], first);
            self.append_beside(beside.next_if(|values| values.row as usize == row));
        }
    }

    /// Where the rows end now, those in bulk included, for `rewind`.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            length: self.len(),
            matches: self.matches.mark(),
            selections: self.selections.mark(),
        }
    }

    /// Drops the rows since then.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        self.truncate(mark.length);
        self.matches.rewind(mark.matches);
        self.selections.rewind(mark.selections);
    }

    /// How many rows there are, those in bulk included.
    pub fn count(&self) -> usize {
        self.len() + self.matches.len() + self.selections.len()
    }

    /// How many bytes of values there are, those in bulk included.
    pub(crate) fn value_bytes(&self) -> usize {
        self.value.bytes.len() + self.selections.value_bytes()
    }

    /// Bytes of memory that the rows take, but for what they share.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [&self.name, &self.value];
        let texts = texts.map(|column| column.offsets.capacity() * 4 + column.bytes.capacity());
        let words = self.document.capacity() + self.subscription.capacity() + self.scope.capacity();
        texts.iter().sum::<usize>() + words * 4 + self.ordinal.capacity() * 5 * 8 + self.kind.len()
    }

    /// The same, where they lie.
    pub(crate) fn held_value_bytes(&self) -> usize {
        let fragments = self.selections.fragments.as_ref();
        self.value.bytes.len() + fragments.map_or(0, |rows| rows.value.bytes.len())
    }

    /// Puts the values that were beside another row beside the last one.
    pub(crate) fn append_beside(&mut self, values: Option<Beside>) {
        let row = self.len() as u32 - 1;
        let moved = values.map(|values| Beside { row, ..values });
        self.bindings.extend(moved);
    }

    /// Drops what it shares with the automaton, so that the rows may change threads.
    pub(crate) fn forget_scope(&mut self) {
        self.last_scope = None;
    }

    fn scope_index(&mut self, scope: &Rc<Scope>) -> i32 {
        // Neighbouring results share their scope, so one remembered entry is enough.
        if !self
            .last_scope
            .as_ref()
            .is_some_and(|last| Rc::ptr_eq(last, scope))
        {
            let declarations = scope.declarations();
            if declarations.is_empty() {
                return -1;
            }
            self.scopes.push(declarations);
            self.last_scope = Some(scope.clone());
        }
        self.scopes.len() as i32 - 1
    }
}
