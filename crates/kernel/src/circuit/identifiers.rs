//! Elements by the ids that the document declares.

use super::Circuit;
use super::cells::{Atom, Wire};
use super::frames::{ArmTarget, Spot, Target};
use super::routes::Need;
use crate::plan::Op;
use std::rc::Rc;

impl Circuit {
    /// The opening element has an id; what is needed of it is wired, but for what is already.
    pub(super) fn identify(&mut self, id: &str, wired: &[Need]) {
        let word: Rc<str> = id.into();
        // A second element with the same id has none (XPath 1.0, section 5.2.1).
        if !self.id_words.insert(word.clone()) {
            return;
        }
        for need in self.routes.id_needs.clone() {
            if !wired.contains(&need) {
                self.prepare(need);
            }
        }
        let info = self.info_of(Spot::Opening);
        self.infos[info].references += 1;
        self.ids.push((word.clone(), info));
        for (target, words, when) in self.id_arms.clone() {
            let named = self.names_word(&words, &word);
            let wire = self.and(self.cells.resolve(&when), named);
            self.add(target, Spot::Opening, wire);
        }
    }

    pub(super) fn collect_identified(&mut self, words: Wire, target: Target, when: Wire) {
        for (word, info) in self.ids.clone() {
            let named = self.names_word(&words, &word);
            let wire = self.and(when.clone(), named);
            self.add(target, Spot::Late(info), wire);
        }
        self.source_open(ArmTarget::Plain(target));
        self.cells.pin(&words);
        self.cells.pin(&when);
        self.id_arms.push((target, words, when));
    }

    /// Whether a word is among words.
    fn names_word(&mut self, words: &Wire, word: &str) -> Wire {
        let space = Wire::Known(Atom::Text(" ".into()));
        let words = self.apply(Op::Normalize, &[self.cells.resolve(words)]);
        let padded = self.apply(Op::Concat, &[space.clone(), words, space]);
        let word = Wire::Known(Atom::Text(format!(" {word} ").into()));
        self.apply(Op::Contains, &[padded, word])
    }
}
