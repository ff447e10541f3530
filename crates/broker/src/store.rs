//! A document as its queries see it: elements in document order, their values, and who is whose.

use crate::query::{Axis, Field, Path, TestId};
use penstock_sequences::eval::double;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// No element.
pub const NONE: u32 = u32::MAX;

/// An element. Its place is its number; what lies below it are the numbers up to `end`.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// The element above, or `NONE`.
    pub parent: u32,
    /// One past its last descendant.
    pub end: u32,
    /// Its name.
    pub name: u32,
    /// Where its string value lies.
    text: (u32, u32),
    /// Its first attribute, and one past its last.
    attributes: (u32, u32),
    /// Its places in the lists of its name's tests.
    places: u32,
    /// Its number among the values of elements, if somebody asked.
    value: u32,
}

/// An attribute or a text node.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    element: u32,
    name: u32,
    range: (u32, u32),
    value: u32,
}

/// The elements, values and lists of one document after the other.
#[derive(Debug, Default)]
pub struct Store {
    elements: Vec<Element>,
    attributes: Vec<Leaf>,
    texts: Vec<Leaf>,
    /// Text nodes by element, if somebody asked.
    by_element: Vec<u32>,
    /// Characters of text, in document order.
    characters: Vec<u8>,
    /// Values of attributes.
    strings: Vec<u8>,
    open: Vec<u32>,
    is_text_open: bool,
    /// By name: the tests that it passes, sorted. They stay from document to document.
    passed: Vec<Box<[TestId]>>,
    /// By test: the elements that pass it, in document order.
    lists: Vec<Vec<u32>>,
    /// The tests that some element passes.
    met: Vec<TestId>,
    /// Places of elements in lists.
    places: Vec<u32>,
    /// The values that were asked for.
    pub values: Values,
}

/// The distinct values that were asked for.
#[derive(Debug, Default)]
pub struct Values {
    ids: FxHashMap<Box<[u8]>, u32>,
    /// By number: the text.
    texts: Vec<Box<[u8]>>,
    /// By number: the number that it is, if it is one.
    numbers: Vec<Option<f64>>,
}

impl Values {
    fn clear(&mut self) {
        self.ids.clear();
        self.texts.clear();
        self.numbers.clear();
    }

    fn intern(&mut self, text: &[u8]) -> u32 {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = self.texts.len() as u32;
        self.ids.insert(text.into(), id);
        self.texts.push(text.into());
        self.numbers.push(double(text));
        id
    }

    /// The text of a value.
    pub fn text(&self, value: u32) -> &[u8] {
        &self.texts[value as usize]
    }

    /// The number that a value is, if it is one.
    pub fn number(&self, value: u32) -> Option<f64> {
        self.numbers[value as usize]
    }
}

impl Store {
    /// Sets the tests that a name passes, sorted.
    pub fn set_name(&mut self, name: u32, passed: Box<[TestId]>) {
        let length = self.passed.len().max(name as usize + 1);
        self.passed.resize(length, Box::default());
        self.passed[name as usize] = passed;
    }

    /// Forgets all names, and the document.
    pub fn forget_names(&mut self) {
        self.clear();
        self.passed.clear();
    }

    /// Forgets the document.
    pub fn clear(&mut self) {
        self.elements.clear();
        self.attributes.clear();
        self.texts.clear();
        self.by_element.clear();
        self.characters.clear();
        self.strings.clear();
        self.open.clear();
        self.is_text_open = false;
        for test in self.met.drain(..) {
            self.lists[test.0 as usize].clear();
        }
        self.places.clear();
        self.values.clear();
    }

    /// Starts an element; its attributes follow.
    pub fn start(&mut self, name: u32) -> u32 {
        self.is_text_open = false;
        let element = self.elements.len() as u32;
        let text = self.characters.len() as u32;
        let attribute = self.attributes.len() as u32;
        self.elements.push(Element {
            parent: self.open.last().copied().unwrap_or(NONE),
            end: element + 1,
            name,
            text: (text, text),
            attributes: (attribute, attribute),
            places: self.places.len() as u32,
            value: NONE,
        });
        self.open.push(element);
        for &test in &self.passed[name as usize] {
            let at = test.0 as usize;
            if self.lists.len() <= at {
                self.lists.resize_with(at + 1, Vec::new);
            }
            if self.lists[at].is_empty() {
                self.met.push(test);
            }
            self.places.push(self.lists[at].len() as u32);
            self.lists[at].push(element);
        }
        element
    }

    /// Adds an attribute to the element that was started last.
    pub fn attribute(&mut self, name: u32, value: &[u8]) {
        let element = self.elements.len() as u32 - 1;
        let start = self.strings.len() as u32;
        self.strings.extend_from_slice(value);
        self.attributes.push(Leaf {
            element,
            name,
            range: (start, self.strings.len() as u32),
            value: NONE,
        });
        self.elements[element as usize].attributes.1 = self.attributes.len() as u32;
    }

    /// Adds a piece of text; pieces that follow each other are one node.
    pub fn text(&mut self, value: &[u8]) {
        let Some(&element) = self.open.last() else {
            return;
        };
        let start = self.characters.len() as u32;
        self.characters.extend_from_slice(value);
        let end = self.characters.len() as u32;
        if self.is_text_open
            && let Some(last) = self.texts.last_mut()
        {
            last.range.1 = end;
            return;
        }
        self.is_text_open = true;
        self.texts.push(Leaf {
            element,
            name: NONE,
            range: (start, end),
            value: NONE,
        });
    }

    /// Something that is no text lies between two pieces of text.
    pub fn end_text(&mut self) {
        self.is_text_open = false;
    }

    /// Ends the innermost element.
    pub fn end(&mut self) {
        self.is_text_open = false;
        if let Some(element) = self.open.pop() {
            let end = self.elements.len() as u32;
            let own = &mut self.elements[element as usize];
            own.end = end;
            own.text.1 = self.characters.len() as u32;
        }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// An element.
    #[inline]
    pub fn element(&self, element: u32) -> &Element {
        &self.elements[element as usize]
    }

    /// The elements that pass a test, in document order.
    #[inline]
    pub fn list(&self, test: TestId) -> &[u32] {
        self.lists.get(test.0 as usize).map_or(&[], |list| list)
    }

    /// The tests that some element passes.
    pub fn tests(&self) -> &[TestId] {
        &self.met
    }

    /// The place of an element among those that pass a test.
    #[inline]
    pub fn place(&self, element: u32, test: TestId) -> u32 {
        let own = &self.elements[element as usize];
        let passed = &self.passed[own.name as usize];
        let at = passed.iter().position(|&one| one == test);
        at.map_or(NONE, |at| self.places[own.places as usize + at])
    }

    /// The elements below an element that pass a test: a part of their list.
    #[inline]
    pub fn below(&self, element: u32, test: TestId) -> &[u32] {
        &self.list(test)[self.range_below(element, test)]
    }

    /// Where that part lies.
    #[inline]
    pub fn range_below(&self, element: u32, test: TestId) -> Range<usize> {
        let list = self.list(test);
        let end = self.elements[element as usize].end;
        let from = list.partition_point(|&one| one <= element);
        from..from + list[from..].partition_point(|&one| one < end)
    }

    /// Appends the elements that steps lead to from an element, in document order, each once.
    pub fn follow(&self, from: u32, steps: &[(Axis, TestId)], out: &mut Vec<u32>) {
        match steps {
            [] => out.push(from),
            [(Axis::Descendant, test)] => out.extend_from_slice(self.below(from, *test)),
            [(Axis::Child, test)] => {
                let below = self.below(from, *test).iter();
                out.extend(below.filter(|&&one| self.elements[one as usize].parent == from));
            }
            [(axis, test), rest @ ..] => {
                let first = out.len();
                for &next in self.below(from, *test) {
                    let is_child = self.elements[next as usize].parent == from;
                    if *axis == Axis::Descendant || is_child {
                        self.follow(next, rest, out);
                    }
                }
                sort_from(out, first);
            }
        }
    }

    /// Numbers of the values at the end of a path, in document order of their elements.
    pub fn each_value(
        &mut self,
        path: &Path,
        elements: &[u32],
        mut each: impl FnMut(&Values, u32) -> bool,
    ) -> bool {
        for &element in elements {
            match path.field {
                Field::Element => {
                    let value = self.element_value(element);
                    if !each(&self.values, value) {
                        return false;
                    }
                }
                Field::Attribute(test) => {
                    for at in self.attributes_of(element) {
                        if self.passes(self.attributes[at].name, test) {
                            let value = self.attribute_value(at);
                            if !each(&self.values, value) {
                                return false;
                            }
                        }
                    }
                }
                Field::Text => {
                    for at in self.texts_of(element) {
                        let value = self.text_value(self.by_element[at] as usize);
                        if !each(&self.values, value) {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }

    /// Whether a path has something at its end.
    pub fn has_field(&mut self, path: &Path, elements: &[u32]) -> bool {
        elements.iter().any(|&element| match path.field {
            Field::Element => true,
            Field::Attribute(test) => self
                .attributes_of(element)
                .any(|at| self.passes(self.attributes[at].name, test)),
            Field::Text => !self.texts_of(element).is_empty(),
        })
    }

    /// Where the text nodes of an element lie in the list of all, by element.
    fn texts_of(&mut self, element: u32) -> Range<usize> {
        if self.by_element.len() < self.texts.len() {
            // Text behind a child comes behind that child's own, so they are no order of elements.
            self.by_element = (0..self.texts.len() as u32).collect();
            let texts = &self.texts;
            self.by_element
                .sort_by_key(|&at| texts[at as usize].element);
        }
        let element_at = |&at: &u32| self.texts[at as usize].element;
        let from = self
            .by_element
            .partition_point(|at| element_at(at) < element);
        let rest = &self.by_element[from..];
        from..from + rest.partition_point(|at| element_at(at) == element)
    }

    fn passes(&self, name: u32, test: TestId) -> bool {
        self.passed[name as usize].binary_search(&test).is_ok()
    }

    fn attributes_of(&self, element: u32) -> Range<usize> {
        let (from, to) = self.elements[element as usize].attributes;
        from as usize..to as usize
    }

    fn element_value(&mut self, element: u32) -> u32 {
        let own = &mut self.elements[element as usize];
        if own.value == NONE {
            let text = &self.characters[own.text.0 as usize..own.text.1 as usize];
            own.value = self.values.intern(text);
        }
        own.value
    }

    fn attribute_value(&mut self, at: usize) -> u32 {
        let own = &mut self.attributes[at];
        if own.value == NONE {
            let text = &self.strings[own.range.0 as usize..own.range.1 as usize];
            own.value = self.values.intern(text);
        }
        own.value
    }

    fn text_value(&mut self, at: usize) -> u32 {
        let own = &mut self.texts[at];
        if own.value == NONE {
            let text = &self.characters[own.range.0 as usize..own.range.1 as usize];
            own.value = self.values.intern(text);
        }
        own.value
    }
}

/// Sorts what lies behind a place, and drops what comes twice.
pub(crate) fn sort_from(list: &mut Vec<u32>, first: usize) {
    if !list[first..].is_sorted() {
        list[first..].sort_unstable();
    }
    let mut kept = first;
    for at in first..list.len() {
        if at == first || list[at] != list[kept - 1] {
            list[kept] = list[at];
            kept += 1;
        }
    }
    list.truncate(kept);
}
