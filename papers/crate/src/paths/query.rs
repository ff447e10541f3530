//! Queries as trees of steps: `/a//b[c/d][.//e]/*`, without values.

use rustc_hash::FxHashMap;

/// A name's number; 0 is a name that no query has.
pub type NameId = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    Child,
    Descendant,
}

/// One step, below step `parent` of the same query, or below the document's root.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub parent: Option<usize>,
    pub axis: Axis,
    /// None is `*`.
    pub name: Option<NameId>,
    /// Whether the step lies on the way to the result, not in a nested path.
    pub is_trunk: bool,
}

/// A query: its steps, parents first, and which of them is the result.
pub struct Query {
    pub steps: Vec<Step>,
    pub output: usize,
}

/// All queries, and the numbers of the names in them.
pub struct Queries {
    pub queries: Vec<Query>,
    pub names: FxHashMap<Box<[u8]>, NameId>,
}

impl Queries {
    /// Reads one query from each line.
    pub fn parse(texts: &str) -> Result<Self, String> {
        let mut names = FxHashMap::default();
        let queries = texts
            .lines()
            .map(|text| {
                let mut parser = Parser {
                    text: text.as_bytes(),
                    place: 0,
                    steps: Vec::new(),
                    names: &mut names,
                };
                let output = parser.path(None, true)?;
                if parser.place < text.len() {
                    return Err(parser.refuse());
                }
                let steps = parser.steps;
                Ok(Query { steps, output })
            })
            .collect::<Result<_, String>>()?;
        Ok(Queries { queries, names })
    }
}

struct Parser<'a> {
    text: &'a [u8],
    place: usize,
    steps: Vec<Step>,
    names: &'a mut FxHashMap<Box<[u8]>, NameId>,
}

impl Parser<'_> {
    /// Reads steps and returns the last one.
    fn path(&mut self, mut parent: Option<usize>, is_trunk: bool) -> Result<usize, String> {
        loop {
            let axis = self.axis();
            let name = self.test()?;
            let step = self.steps.len();
            self.steps.push(Step {
                parent,
                axis,
                name,
                is_trunk,
            });
            while self.take(b"[") {
                self.nested(step)?;
            }
            if self.text.get(self.place) != Some(&b'/') {
                return Ok(step);
            }
            parent = Some(step);
        }
    }

    fn nested(&mut self, step: usize) -> Result<(), String> {
        self.take(b".");
        self.path(Some(step), false)?;
        if self.take(b"]") {
            Ok(())
        } else {
            Err(self.refuse())
        }
    }

    fn axis(&mut self) -> Axis {
        if self.take(b"//") {
            return Axis::Descendant;
        }
        self.take(b"/");
        Axis::Child
    }

    fn test(&mut self) -> Result<Option<NameId>, String> {
        if self.take(b"*") {
            return Ok(None);
        }
        let rest = &self.text[self.place..];
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let length = rest
            .iter()
            .position(|byte| !is_name(byte))
            .unwrap_or(rest.len());
        if length == 0 {
            return Err(self.refuse());
        }
        self.place += length;
        let next = self.names.len() as NameId + 1;
        Ok(Some(
            *self.names.entry(rest[..length].into()).or_insert(next),
        ))
    }

    fn take(&mut self, token: &[u8]) -> bool {
        let found = self.text[self.place..].starts_with(token);
        self.place += if found { token.len() } else { 0 };
        found
    }

    fn refuse(&self) -> String {
        let text = String::from_utf8_lossy(self.text);
        format!(
            "`{text}` is no path of this peer, at character {}",
            self.place
        )
    }
}
