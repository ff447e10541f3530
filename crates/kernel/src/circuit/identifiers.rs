//! Elements by their ids.

use super::Circuit;
use super::cells::{Atom, Wire};
use super::frames::{ArmTarget, Spot, Target};
use super::routes::Need;
use crate::plan::Op;
use smallvec::SmallVec;
use std::rc::Rc;

impl Circuit {
    /// The opening element has ids; what is needed of it is wired, but for what is already.
    pub(super) fn identify(&mut self, ids: &[Box<str>], wired: &[Need]) {
        let words = ids.iter().map(|id| Rc::from(&**id));
        // A second element with the same id has none (XPath 1.0, section 5.2.1).
        let own: Rc<[Rc<str>]> = words
            .filter(|word: &Rc<str>| self.id_words.insert(word.clone()))
            .collect();
        if own.is_empty() {
            return;
        }
        for &need in self.routes.id_needs.clone().keys() {
            if wired.binary_search(&need).is_err() {
                self.prepare(need);
            }
        }
        let info = self.info_of(Spot::Opening);
        self.infos[info].references += 1;
        self.ids.push((own.clone(), info));
        for (target, words, when) in self.id_arms.clone() {
            self.cells.account.spend(1);
            let padded = self.pad(&words);
            let named = self.names_one(&padded, &own);
            let wire = self.and(self.cells.resolve(&when), named);
            self.add(target, Spot::Opening, wire);
        }
    }

    pub(super) fn collect_identified(&mut self, words: Wire, target: Target, when: Wire) {
        let padded = self.pad(&words);
        for (own, info) in self.ids.clone() {
            self.cells.account.spend(1);
            let named = self.names_one(&padded, &own);
            let wire = self.and(when.clone(), named);
            self.add(target, Spot::Late(info), wire);
        }
        self.source_open(ArmTarget::Plain(target));
        self.cells.pin(&words);
        self.cells.pin(&when);
        self.id_arms.push((target, words, when));
    }

    /// Words with one space before and behind each of them.
    fn pad(&mut self, words: &Wire) -> Wire {
        let space = Wire::Known(Atom::Text(" ".into()));
        let words = self.apply(Op::Normalize, &[self.cells.resolve(words)]);
        self.apply(Op::Concat, &[space.clone(), words, space])
    }

    /// Whether one of an element's ids is among padded words.
    fn names_one(&mut self, padded: &Wire, own: &[Rc<str>]) -> Wire {
        let named: SmallVec<[Wire; 2]> = own
            .iter()
            .map(|word| {
                let word = Wire::Known(Atom::Text(format!(" {word} ").into()));
                self.apply(Op::Contains, &[padded.clone(), word])
            })
            .collect();
        self.any(&named)
    }
}
