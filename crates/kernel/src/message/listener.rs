//! Listens to documents for the programs that request messages.
//!
//! Events move the projections' automaton; where some program keeps a node, the node goes into that
//! program's tree. An element whose ancestors are not in the tree brings them along, so that paths
//! in the tree are those of the document.

use super::member::{Member, Task};
use super::names::Names;
use super::serving::{Failed, Serving};
use super::states::{AttributeTest, Leaf, MemberId, StateId, States};
use crate::automaton::limit_error;
use crate::error::DocumentError;
use crate::events::{Handler, Scope, Span, StartTag, Symbol, local_name};
use crate::ids::DocumentId;
use crate::ledger::Account;
use crate::rows::Rows;
use crate::source::Source;
use crate::tables::Table;
use crate::vocabulary::NodeKind;
use smallvec::SmallVec;
use std::rc::Rc;

/// An open element in which somebody may need something.
struct Frame {
    state: StateId,
    symbol: Symbol,
    prefix: SmallVec<[u8; 14]>,
    start: u64,
    scope: Rc<Scope>,
    /// The programs whose trees have it.
    members: SmallVec<[MemberId; 2]>,
}

/// All that changes while a document is read.
pub struct Messages {
    pub(super) names: Names,
    pub(super) states: States,
    pub(super) members: Table<MemberId, Member>,
    /// The state of the document node.
    pub(super) root: StateId,
    frames: Vec<Frame>,
    /// Open elements below those of the frames: nobody needs anything there.
    dead: u32,
    /// How much of the text under way was read, and how much there may be.
    text_bytes: u64,
    text_bytes_max: u64,
    /// The programs that keep the last event, a text, as a node.
    text_members: SmallVec<[MemberId; 4]>,
    source: Source,
    /// Where the source is needed from on; none is `u64::MAX`.
    needed_from: u64,
    pub(super) account: Account,
    pub(super) document: DocumentId,
    pub(super) rows: Rows,
    pub(super) failed: Vec<Failed>,
    pub(super) serving: Serving,
}

impl Messages {
    pub(super) fn with(
        names: Names,
        states: States,
        members: Table<MemberId, Member>,
        serving: Serving,
        account: Account,
        text_bytes_max: u64,
    ) -> Messages {
        Messages {
            names,
            states,
            members,
            root: StateId::DEAD,
            frames: Vec::new(),
            dead: 0,
            text_bytes: 0,
            text_bytes_max,
            text_members: SmallVec::new(),
            source: Source::new(),
            needed_from: u64::MAX,
            account,
            document: DocumentId(0),
            rows: Rows::default(),
            failed: Vec::new(),
            serving,
        }
    }

    /// The state around the next event.
    #[inline]
    fn state(&self) -> StateId {
        self.frames.last().map_or(self.root, |frame| frame.state)
    }

    /// Sees to it that a program's tree has all open elements.
    fn bring(&mut self, id: MemberId) {
        let member = &mut self.members[id];
        for frame in &mut self.frames[member.depth()..] {
            let name = member.qname(frame.symbol, &frame.prefix, &self.names);
            member.open(name, &frame.scope, frame.start);
            frame.members.push(id);
            self.account.spend(1);
        }
    }

    /// Keeps what is needed of an element that was just opened.
    fn keep_element(&mut self, tag: &StartTag<'_>, state: StateId) {
        for at in 0..self.states.of(state).keeps.len() {
            let keep = &self.states.of(state).keeps[at];
            let id = keep.member;
            self.account.act_for(id.0);
            if self.members[id].has_failed() {
                continue;
            }
            let is_needed = keep.marks.is_some();
            for &gather in &keep.counts {
                self.members[id].count(gather);
            }
            if is_needed {
                self.bring(id);
            }
            self.keep_attributes(tag, state, at);
            let keep = &self.states.of(state).keeps[at];
            if is_needed {
                if keep.marks.has_bytes() {
                    self.needed_from = self.needed_from.min(tag.span.start);
                }
                self.members[id].keep(keep);
            }
        }
    }

    fn keep_attributes(&mut self, tag: &StartTag<'_>, state: StateId, at: usize) {
        let count = self.states.of(state).keeps[at].attributes.len();
        if count == 0 {
            return;
        }
        let id = self.states.of(state).keeps[at].member;
        for attribute in tag.attributes {
            let class = self.names.name(attribute.symbol).class;
            let tests = self.states.of(state).keeps[at].attributes.iter();
            let passed = tests.filter(|(test, _)| match test {
                AttributeTest::All => true,
                AttributeTest::Passing(test) => self.names.passes(class, *test),
            });
            let Some(stay) = passed.map(|&(_, stay)| stay).max() else {
                continue;
            };
            self.bring(id);
            let prefix = prefix_of(attribute.name);
            let member = &mut self.members[id];
            let name = member.qname(attribute.symbol, prefix, &self.names);
            let span = (attribute.span.start, attribute.span.end);
            member.tree().attribute(name, attribute.value, span);
            member.note_kept(stay, 0);
            self.account.spend(1);
        }
    }

    /// Text that was kept as a node ends at whatever is no text.
    #[inline]
    fn end_text(&mut self) {
        self.account.act_for_all();
        self.text_bytes = 0;
        for id in self.text_members.drain(..) {
            self.members[id].tree().end_text();
        }
    }

    /// A comment or an instruction.
    fn leaf(&mut self, kind: NodeKind, target: &[u8], value: &[u8], span: Span) {
        self.end_text();
        if self.dead > 0 || self.state() == StateId::DEAD {
            return;
        }
        let class = self.names.class(kind, b"", target);
        let leaves = self.states.leaves_in(self.state(), class, &self.names);
        for leaf in leaves.iter().filter(|leaf| leaf.is_node) {
            let id = leaf.member;
            if self.members[id].has_failed() {
                continue;
            }
            self.bring(id);
            self.members[id].leaf(kind, target, value, (span.start, span.end));
            self.members[id].note_kept(leaf.stay, 1);
            self.account.spend(1);
        }
    }

    /// Starts a document.
    pub(super) fn begin_events(&mut self) {
        self.frames.clear();
        self.dead = 0;
        self.text_bytes = 0;
        self.text_members.clear();
        self.needed_from = u64::MAX;
        self.source.clear();
        self.account.begin();
    }
}

/// The prefix of a name as written.
pub fn prefix_of(name: &[u8]) -> &[u8] {
    let local = local_name(NodeKind::Element, name).len();
    &name[..(name.len() - local).saturating_sub(1)]
}

impl Handler for Messages {
    fn block(&mut self, bytes: &[u8], start: u64) {
        self.source.enter(bytes, start);
    }

    fn block_end(&mut self, unread: u64) -> Result<(), DocumentError> {
        self.source.leave(self.needed_from.min(unread));
        Ok(())
    }

    fn declare_entities(&mut self) {
        self.read_without_bytes();
    }

    fn element_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        self.names.symbol(NodeKind::Element, uri, local)
    }

    fn attribute_symbol(&mut self, uri: &[u8], local: &[u8]) -> Symbol {
        self.names.symbol(NodeKind::Attribute, uri, local)
    }

    #[inline]
    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        self.end_text();
        if self.dead > 0 {
            self.dead += 1;
            return Ok(());
        }
        let class = self.names.name(tag.symbol).class;
        let state = self.states.next(self.state(), class, &self.names);
        if state == StateId::DEAD {
            self.dead = 1;
            return Ok(());
        }
        self.account.position = tag.span.end;
        self.account.spend(1);
        self.frames.push(Frame {
            state,
            symbol: tag.symbol,
            prefix: prefix_of(tag.name).into(),
            start: tag.span.start,
            scope: tag.scope.clone(),
            members: SmallVec::new(),
        });
        if !self.states.of(state).keeps.is_empty() {
            self.keep_element(tag, state);
        }
        Ok(())
    }

    #[inline]
    fn end(&mut self, span: Span) -> Result<(), DocumentError> {
        self.end_text();
        if self.dead > 0 {
            self.dead -= 1;
            return Ok(());
        }
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        // The text of the element has been read, and allows work.
        self.account.position = span.end;
        for &id in &frame.members {
            self.account.act_for(id.0);
            let own = Span {
                start: frame.start,
                end: span.end,
            };
            let task = Task {
                account: &mut self.account,
                rows: &mut self.rows,
                document: self.document,
                at: span.end,
            };
            self.members[id].close(own, &self.source, task);
        }
        if frame.start <= self.needed_from {
            self.needed_from = u64::MAX;
        }
        Ok(())
    }

    #[inline]
    fn text(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        if self.dead > 0 {
            return Ok(());
        }
        self.account.act_for_all();
        let state = self.state();
        if !self.states.of(state).texts.is_empty() {
            self.text_bytes += value.len() as u64;
            if self.text_bytes > self.text_bytes_max {
                let bound = self.text_bytes_max;
                return Err(limit_error("text_bytes_max", bound, span.start));
            }
        }
        for at in 0..self.states.of(state).texts.len() {
            let Leaf {
                member: id,
                is_node,
                stay,
            } = self.states.of(state).texts[at];
            if self.members[id].has_failed() {
                continue;
            }
            self.account.spend(1 + value.len() as u64 / 64);
            if is_node {
                self.bring(id);
                if !self.text_members.contains(&id) {
                    self.text_members.push(id);
                }
                let member = &mut self.members[id];
                member.tree().text(value, (span.start, span.end));
                member.note_kept(stay, 1);
            } else {
                self.members[id].tree().add_value(value);
            }
        }
        Ok(())
    }

    fn comment(&mut self, value: &[u8], span: Span) -> Result<(), DocumentError> {
        self.leaf(NodeKind::Comment, b"", value, span);
        Ok(())
    }

    fn instruction(
        &mut self,
        target: &[u8],
        value: &[u8],
        span: Span,
    ) -> Result<(), DocumentError> {
        self.leaf(NodeKind::Instruction, target, value, span);
        Ok(())
    }
}
