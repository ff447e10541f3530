//! What becomes of the items of all regions: a list, or one value that grows with them.

use super::program::Fold;
use penstock_sequences::atomic::{Atomic, Operator, arithmetic};
use penstock_sequences::error::{Error, Result};
use penstock_sequences::eval::{Collected, Item, Sequence};
use penstock_sequences::functions::{Builtin, Call, Environment, Values, convert, find};
use penstock_sequences::tree::Forest;

/// The items or values of a part that gathers, so far.
pub struct Folding {
    fold: Fold,
    items: Collected,
    count: i64,
    value: Option<Atomic>,
}

impl Folding {
    /// Nothing yet.
    pub fn new(fold: Fold) -> Folding {
        Folding {
            fold,
            items: Collected::default(),
            count: 0,
            value: None,
        }
    }

    /// Whether nothing was added.
    pub fn is_clear(&self) -> bool {
        self.items.is_empty() && self.count == 0 && self.value.is_none()
    }

    /// The items so far, if they are kept themselves.
    pub fn items(&mut self) -> Option<&mut Collected> {
        (self.fold == Fold::Items).then_some(&mut self.items)
    }

    /// Counts one item more of which nothing else matters.
    pub fn count(&mut self) {
        self.count += 1;
    }

    /// Adds the items of a region. Those of sums and the like are atomic values.
    pub fn add(&mut self, items: &Sequence, environment: &Environment) -> Result<()> {
        let items = items.as_slice();
        self.count += items.len() as i64;
        match self.function() {
            _ if items.is_empty() => Ok(()),
            None => Ok(()),
            Some(builtin) => {
                let atomics = items.iter().filter_map(|item| match item {
                    Item::Atomic(value) => Some(value.clone()),
                    Item::Node(_) => None,
                });
                let all: Values = self.value.take().into_iter().chain(atomics).collect();
                self.value = call(builtin, all, environment)?.into_iter().next();
                Ok(())
            }
        }
    }

    /// The function that brings values together.
    fn function(&self) -> Option<&'static Builtin> {
        match self.fold {
            Fold::Sum | Fold::Average => find("sum", 1),
            Fold::Least => find("min", 1),
            Fold::Greatest => find("max", 1),
            Fold::Items | Fold::Count | Fold::Exists | Fold::Empty => None,
        }
    }

    /// The value of all regions; nodes become a tree of the forest.
    pub fn finish(&mut self, forest: &mut Forest) -> Result<Sequence> {
        let value = match self.fold {
            Fold::Items => return Ok(std::mem::take(&mut self.items).finish(forest)),
            Fold::Count => Some(Atomic::Integer(self.count)),
            Fold::Exists => Some(Atomic::Boolean(self.count > 0)),
            Fold::Empty => Some(Atomic::Boolean(self.count == 0)),
            Fold::Sum => Some(self.value.take().unwrap_or(Atomic::Integer(0))),
            Fold::Average => {
                let count = Atomic::Integer(self.count);
                let sum = self.value.take();
                sum.map(|sum| arithmetic(Operator::Divide, &sum, &count))
                    .transpose()?
            }
            Fold::Least | Fold::Greatest => self.value.take(),
        };
        Ok(value.map_or(Sequence::Empty, Sequence::atomic))
    }
}

fn call(builtin: &'static Builtin, values: Values, environment: &Environment) -> Result<Values> {
    let Some(parameter) = builtin.parameter(0) else {
        return Err(Error::new("XPST0017", "the function takes no values"));
    };
    let mut arguments = [convert(values, parameter)?];
    (builtin.call)(&mut Call {
        builtin,
        arguments: &mut arguments,
        environment,
        meter: &mut |_| (),
    })
}
