//! Constructors, and the writing of expressions in their place: what is only written is not built.

use super::item::{Item, Sequence};
use super::run::{Flow, Focus, Run, fail, steps_of_bytes};
use super::write::{Target, Writer};
use crate::code::{Expr, ExprId, NewAttribute, NewElement, NewName};
use crate::names::{QName, StringId};
use crate::tree::{Kind, NodeRef, Tree};

/// Steps of work that a tree of its own takes, and a node in it.
const STEPS_OF_TREE: u64 = 8;
pub(super) const STEPS_OF_NODE: u64 = 2;

/// Whether a message has enclosed expressions, and whether one of them had an item.
#[derive(Clone, Copy, Default)]
pub(super) struct Filled {
    pub is_enclosing: bool,
    pub is_filled: bool,
}

impl<'a> Run<'a> {
    /// The node that a constructor builds, as a tree of its own; none for empty text.
    pub fn construct(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Sequence> {
        self.charge(STEPS_OF_TREE);
        let tree = match self.code.expr(id) {
            Expr::NewDocument(_) => Tree::default(),
            _ => Tree::without_root(),
        };
        let mut writer = Writer::new(Target::Tree(Box::new(tree)));
        self.write(id, focus, &mut writer)?;
        let Target::Tree(mut tree) = writer.finish() else {
            return Ok(Sequence::Empty);
        };
        if let Expr::NewDocument(_) = self.code.expr(id) {
            tree.end(0);
        }
        if tree.is_empty() {
            return Ok(Sequence::Empty);
        }
        Ok(Sequence::node(self.forest.push(*tree)))
    }

    /// Writes the items of an expression.
    pub fn write(&mut self, id: ExprId, focus: Focus<'_>, writer: &mut Writer<'_>) -> Flow {
        let code = self.code;
        match code.expr(id) {
            Expr::NewElement(new) => self.write_element(new, focus, writer, &mut None),
            Expr::NewAttribute(new) => self.write_attribute(new, focus, writer, &mut None),
            Expr::NewText(value) => self.write_text(*value, focus, writer),
            Expr::NewComment(value) => {
                let text = self.joined(*value, focus)?;
                self.charge_made(text.len());
                writer.comment(&text, &self.forest.names)
            }
            Expr::NewInstruction(target, value) => {
                self.write_instruction(*target, *value, focus, writer)
            }
            Expr::NewDocument(content) => {
                writer.start_document();
                self.write(*content, focus, writer)?;
                writer.end(&self.forest.names);
                Ok(())
            }
            Expr::Characters(text) => {
                let text = code.texts[*text as usize].as_bytes();
                self.charge(steps_of_bytes(text.len()));
                writer.text(text);
                Ok(())
            }
            Expr::Sequence(parts) => {
                for &part in parts {
                    self.write(part, focus, writer)?;
                }
                Ok(())
            }
            Expr::If(test, then, otherwise) => {
                let branch = if self.truth(*test, focus)? {
                    *then
                } else {
                    *otherwise
                };
                self.write(branch, focus, writer)
            }
            Expr::Flwor(clauses, result) => {
                self.flwor(clauses, focus, &mut |run| run.write(*result, focus, writer))
            }
            Expr::TypeSwitch(operand, cases) => {
                let result = self.choose(*operand, cases, focus)?;
                self.write(result, focus, writer)
            }
            Expr::OwnCall(function, arguments)
                if code.functions[*function as usize].result.is_none() =>
            {
                let values = self.arguments(*function, arguments, focus)?;
                let function = &code.functions[*function as usize];
                self.in_frame(function.frame, values, |run| {
                    run.write(function.body, Focus::default(), writer)
                })
            }
            _ => self.each(id, focus, &mut |run, item| {
                run.with_forest(|forest, meter| writer.item(&item, forest, meter))
            }),
        }
    }

    /// Writes a message, and says whether its enclosed expressions had items.
    pub fn write_message(
        &mut self,
        id: ExprId,
        focus: Focus<'_>,
        writer: &mut Writer<'_>,
    ) -> Flow<Filled> {
        let mut filled = Some(Filled::default());
        match self.code.expr(id) {
            Expr::NewElement(new) => self.write_element(new, focus, writer, &mut filled)?,
            Expr::NewDocument(content) => {
                writer.start_document();
                self.write_part(*content, focus, writer, &mut filled)?;
                writer.end(&self.forest.names);
            }
            _ => self.write_part(id, focus, writer, &mut filled)?,
        }
        Ok(filled.unwrap_or_default())
    }

    /// Writes a part of a constructor; where a message is written, notes whether it had items.
    fn write_part(
        &mut self,
        id: ExprId,
        focus: Focus<'_>,
        writer: &mut Writer<'_>,
        filled: &mut Option<Filled>,
    ) -> Flow {
        match (self.code.expr(id), &filled) {
            (_, None) | (Expr::Characters(_), _) => self.write(id, focus, writer),
            (Expr::NewElement(new), _) => self.write_element(new, focus, writer, filled),
            (Expr::NewAttribute(new), _) => self.write_attribute(new, focus, writer, filled),
            (_, Some(known)) => {
                let before = writer.items;
                self.write(id, focus, writer)?;
                *filled = Some(Filled {
                    is_enclosing: true,
                    is_filled: known.is_filled || writer.items > before,
                });
                Ok(())
            }
        }
    }

    fn write_element(
        &mut self,
        new: &'a NewElement,
        focus: Focus<'_>,
        writer: &mut Writer<'_>,
        filled: &mut Option<Filled>,
    ) -> Flow {
        let name = self.new_name(new.name, &new.scope, false, focus)?;
        self.charge(STEPS_OF_NODE + writer.steps_of_scope());
        writer.start(name, &self.forest.names);
        for (prefix, uri) in &new.namespaces {
            writer.declare(*prefix, *uri, &self.forest.names);
        }
        for &part in &new.content {
            writer.begin_part();
            self.write_part(part, focus, writer, filled)?;
        }
        writer.end(&self.forest.names);
        Ok(())
    }

    fn write_attribute(
        &mut self,
        new: &'a NewAttribute,
        focus: Focus<'_>,
        writer: &mut Writer<'_>,
        filled: &mut Option<Filled>,
    ) -> Flow {
        let name = self.new_name(new.name, &new.scope, true, focus)?;
        let mut value = Vec::new();
        for &part in &new.value {
            if let Expr::Characters(text) = self.code.expr(part) {
                let text = self.code.texts[*text as usize].as_bytes();
                self.charge(steps_of_bytes(text.len()));
                value.extend_from_slice(text);
                continue;
            }
            let count = self.join(part, focus, &mut value)?;
            if let Some(filled) = filled {
                filled.is_enclosing = true;
                filled.is_filled |= count > 0;
            }
        }
        self.charge_made(value.len());
        self.charge(writer.steps_of_attributes());
        writer.attribute(name, &value, &mut self.forest.names)
    }

    fn write_text(&mut self, value: ExprId, focus: Focus<'_>, writer: &mut Writer<'_>) -> Flow {
        let mut text = Vec::new();
        if self.join(value, focus, &mut text)? > 0 {
            self.charge_made(text.len());
            writer.text_node(&text, &self.forest.names);
        }
        Ok(())
    }

    fn write_instruction(
        &mut self,
        target: NewName,
        value: ExprId,
        focus: Focus<'_>,
        writer: &mut Writer<'_>,
    ) -> Flow {
        let target = match target {
            NewName::Known(name) => name,
            NewName::Computed(id) => self.target(id, focus)?,
        };
        let text = self.joined(value, focus)?;
        self.charge_made(text.len());
        writer.instruction(target, text.trim_ascii_start(), &self.forest.names)
    }

    fn target(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<QName> {
        let Some(value) = self.atom(id, focus)? else {
            return fail("XPTY0004", "a processing instruction has no target");
        };
        let Some(text) = value.as_text() else {
            let type_ = value.type_of();
            return fail("XPTY0004", format!("a value of type {type_} is no target"));
        };
        let text = text.trim();
        if !super::qnames::is_ncname(text) {
            return fail("XQDY0041", format!("{text:?} is not a target"));
        }
        if text.eq_ignore_ascii_case("xml") {
            return fail("XQDY0064", "the target of an instruction must not be `xml`");
        }
        Ok(self.forest.names.qname(b"", b"", text.as_bytes()))
    }

    /// The atomic values of an expression as one text, with spaces between them.
    fn joined(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Vec<u8>> {
        let mut text = Vec::new();
        self.join(id, focus, &mut text)?;
        Ok(text)
    }

    fn join(&mut self, id: ExprId, focus: Focus<'_>, text: &mut Vec<u8>) -> Flow<usize> {
        let mut count = 0;
        self.each(id, focus, &mut |run, item| {
            if count > 0 {
                text.push(b' ');
            }
            count += 1;
            let before = text.len();
            match &item {
                Item::Node(node) => text.extend_from_slice(run.forest.value(*node)),
                Item::Atomic(value) => match value.as_text() {
                    Some(known) => text.extend_from_slice(known.as_bytes()),
                    None => text.extend_from_slice(value.to_text().as_bytes()),
                },
            }
            run.charge(1 + steps_of_bytes(text.len() - before));
            Ok(())
        })?;
        Ok(count)
    }

    /// Counts a node that is made, with a value of so many bytes.
    fn charge_made(&mut self, value_bytes: usize) {
        self.charge(STEPS_OF_NODE + steps_of_bytes(value_bytes));
    }

    /// The declarations in force at an element.
    pub fn declarations(&mut self, element: NodeRef) -> Vec<(StringId, StringId)> {
        let forest = &mut *self.forest;
        let tree = &forest.trees[element.tree as usize];
        debug_assert_eq!(tree.kind(element.node), Kind::Element);
        let scope = tree.scope(element.node);
        let declared = scope.map(|scope| scope.declarations()).unwrap_or_default();
        let pairs = declared.iter();
        pairs
            .map(|(prefix, uri)| (forest.names.bytes(prefix), forest.names.bytes(uri)))
            .collect()
    }
}
