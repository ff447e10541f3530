//! Questions that hang on one constant: only a document that has the value is asked them.
//!
//! A question with a condition `= constant` can be answered only where a node has that value. If
//! there are many constants for such nodes, few of them occur in a document, so these questions
//! lie in tries of their own, one for each constant and each move that leads to its nodes.
//!
//! ```text
//! keys = strings, (place of its pairs) by string and one more …, (code, record) …
//! ```

use super::image::{Image, Part};
use super::question::{ChainId, Code, Question, Relation, Step};
use crate::plan::StringId;
use crate::tables::Table;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Fewer constants than this are likely to occur in many documents.
const CONSTANTS_MIN: usize = 128;

type Chains = Table<ChainId, Vec<Code>>;

/// A move and the string that a node to which it leads has to be.
pub type Key = (Code, StringId);

/// Takes out the questions that hang on a constant, each with the key that fewest share.
pub fn take_keyed(asked: &mut Vec<Question>, chains: &Chains) -> BTreeMap<Key, Vec<Question>> {
    let mut uses: FxHashMap<Key, u32> = FxHashMap::default();
    for question in asked.iter() {
        for key in keys_of(question, chains) {
            *uses.entry(key).or_default() += 1;
        }
    }
    let mut constants: FxHashMap<Code, usize> = FxHashMap::default();
    for (code, _) in uses.keys() {
        *constants.entry(*code).or_default() += 1;
    }
    let mut keyed: BTreeMap<Key, Vec<Question>> = BTreeMap::new();
    let mut open = Vec::new();
    for question in asked.drain(..) {
        let rare = keys_of(&question, chains).filter(|key| constants[&key.0] >= CONSTANTS_MIN);
        match rare.min_by_key(|key| (uses[key], *key)) {
            Some(key) => keyed.entry(key).or_default().push(question),
            None => open.push(question),
        }
    }
    *asked = open;
    keyed
}

fn keys_of<'a>(question: &'a Question, chains: &'a Chains) -> impl Iterator<Item = Key> + 'a {
    let mut last = None;
    question.steps.iter().filter_map(move |step| match *step {
        Step::Move(code) => {
            last = Some(code);
            None
        }
        Step::Value {
            relation: Relation::Equal,
            chain,
            constant,
        } => {
            let code = chains[chain].last().copied().or(last)?;
            Some((code, StringId(constant)))
        }
        _ => None,
    })
}

/// Lays out keys and the records of their tries.
pub fn lay_out(records: &[(Key, u32)]) -> Vec<u32> {
    let Some(strings) = records.iter().map(|((_, string), _)| string.0 + 1).max() else {
        return Vec::new();
    };
    let mut sorted = records.to_vec();
    sorted.sort_unstable_by_key(|((code, string), _)| (*string, *code));
    let mut words = vec![strings];
    let mut place = strings + 2;
    let mut rest = sorted.as_slice();
    for string in (0..strings).map(StringId) {
        words.push(place);
        let own = rest.iter().take_while(|(key, _)| key.1 == string);
        let count = own.count();
        place += 2 * count as u32;
        rest = &rest[count..];
    }
    words.push(place);
    for ((code, _), record) in sorted {
        words.extend([u32::from(code), record]);
    }
    words
}

/// By code: whether keys ask for it. There may be a million keys, so this does nothing else.
pub fn codes(image: Image<'_>) -> Vec<bool> {
    let mut is_keyed = vec![false; image.part(Part::Codes).len() / 2];
    for part in [Part::FilterKeys, Part::QueryKeys] {
        if let Some((&strings, rest)) = image.part(part).split_first() {
            for pair in rest[strings as usize + 1..].chunks_exact(2) {
                is_keyed[pair[0] as usize] = true;
            }
        }
    }
    is_keyed
}

#[cfg(test)]
mod tests {
    use super::{
        CONSTANTS_MIN, ChainId, Question, Relation, Step, StringId, Table, lay_out, take_keyed,
    };

    fn asked(constants: usize) -> Vec<Question> {
        let equal = |chain: u32, constant: usize| Step::Value {
            relation: Relation::Equal,
            chain: ChainId(chain),
            constant: constant as u32,
        };
        // All have the first condition in common; the second one tells them apart.
        let steps = |number| vec![Step::Move(1), equal(1, 0), equal(0, 10 + number)];
        let question = |number: usize| Question {
            steps: steps(number),
            asker: number as u32,
        };
        (0..constants).map(question).collect()
    }

    #[test]
    fn questions_hang_on_their_rarest_constant_if_there_are_many() {
        let chains = Table::from_iter([Vec::new(), vec![7]]);
        let mut few = asked(CONSTANTS_MIN - 1);
        assert!(take_keyed(&mut few, &chains).is_empty());
        assert_eq!(few.len(), CONSTANTS_MIN - 1);

        let mut many = asked(CONSTANTS_MIN);
        let keyed = take_keyed(&mut many, &chains);
        assert!(many.is_empty());
        // The empty chain stays at the node that the move before it leads to.
        let keys: Vec<_> = keyed.keys().copied().collect();
        let expected: Vec<_> = (0..CONSTANTS_MIN as u32)
            .map(|n| (1, StringId(10 + n)))
            .collect();
        assert_eq!(keys, expected);
    }

    #[test]
    fn the_records_of_a_string_lie_together() {
        let key = |code, string| (code, StringId(string));
        let words = lay_out(&[(key(3, 2), 30), (key(1, 2), 10), (key(1, 0), 20)]);
        assert_eq!(words, [3, 5, 7, 7, 11, 1, 20, 1, 10, 3, 30]);
        assert!(lay_out(&[]).is_empty());
    }
}
