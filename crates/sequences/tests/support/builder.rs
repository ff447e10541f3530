//! A writer of code, as `planning/sequences/encoding.py` writes it.

use std::cell::RefCell;

type Table = RefCell<Vec<Vec<u8>>>;

/// The tables of code. Every method adds an entry and returns its number.
#[derive(Default)]
pub struct Builder {
    strings: Table,
    names: Table,
    constants: Table,
    tests: Table,
    types: Table,
    exprs: Table,
    functions: Table,
}

fn varint(mut number: u32, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(number as u8 & 0x7f | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Numbers, one behind the other.
pub fn words(numbers: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    numbers.iter().for_each(|&number| varint(number, &mut out));
    out
}

/// A counted list.
pub fn many(numbers: &[u32]) -> Vec<u8> {
    let mut out = words(&[numbers.len() as u32]);
    out.extend(words(numbers));
    out
}

fn push(table: &Table, entry: Vec<u8>) -> u32 {
    table.borrow_mut().push(entry);
    table.borrow().len() as u32 - 1
}

pub const CHILD: u32 = 1;
pub const DESCENDANT: u32 = 2;
pub const ATTRIBUTE: u32 = 4;
pub const FOR: u32 = 0;
pub const LET: u32 = 1;
pub const WHERE: u32 = 2;

impl Builder {
    pub fn string(&self, text: &str) -> u32 {
        let mut entry = words(&[text.len() as u32]);
        entry.extend_from_slice(text.as_bytes());
        push(&self.strings, entry)
    }

    pub fn name(&self, prefix: &str, uri: &str, local: &str) -> u32 {
        let parts = [self.string(local), self.string(uri), self.string(prefix)];
        push(&self.names, words(&parts))
    }

    /// An expression: its code, numbers, and a counted list of further numbers.
    pub fn expr(&self, head: &[u32], parts: Option<&[u32]>) -> u32 {
        let mut entry = words(head);
        entry.extend(parts.map(many).unwrap_or_default());
        push(&self.exprs, entry)
    }

    pub fn constant(&self, kind: &str, text: &str) -> u32 {
        let parts = [self.string(kind), self.string(text)];
        let constant = push(&self.constants, words(&parts));
        self.expr(&[0, constant], None)
    }

    pub fn integer(&self, number: i64) -> u32 {
        self.constant("integer", &number.to_string())
    }

    pub fn text(&self, text: &str) -> u32 {
        self.constant("string", text)
    }

    pub fn variable(&self, slot: u32) -> u32 {
        self.expr(&[1, slot], None)
    }

    pub fn item(&self, slot: u32) -> u32 {
        self.expr(&[2, slot], None)
    }

    pub fn here(&self) -> u32 {
        self.expr(&[5], None)
    }

    pub fn root(&self) -> u32 {
        self.expr(&[6], None)
    }

    pub fn sequence(&self, parts: &[u32]) -> u32 {
        self.expr(&[10], Some(parts))
    }

    /// A step to nodes with a name in no namespace; `text()` is text.
    pub fn step(&self, base: u32, axis: u32, name: &str, predicates: &[u32]) -> u32 {
        let mut test = Vec::new();
        match name {
            "text()" => test.extend(words(&[4, 0, 0])),
            "*" => test.extend(words(&[2, 0, 0])),
            _ => {
                let kind = if axis == ATTRIBUTE { 3 } else { 2 };
                test.extend(words(&[kind, 1 + self.string(name), 1, 1, self.string("")]));
            }
        }
        let test = push(&self.tests, test);
        self.expr(&[12, base, axis, test], Some(predicates))
    }

    /// Steps from a base: `a/b/@c`.
    pub fn path(&self, base: u32, steps: &str) -> u32 {
        steps
            .split('/')
            .fold(base, |base, step| match step.strip_prefix('@') {
                Some(name) => self.step(base, ATTRIBUTE, name, &[]),
                None => self.step(base, CHILD, step, &[]),
            })
    }

    /// A general comparison: `= != < <= > >=` by their places.
    pub fn compare(&self, operator: u32, left: u32, right: u32) -> u32 {
        self.expr(&[19, operator, left, right], None)
    }

    pub fn times(&self, left: u32, right: u32) -> u32 {
        self.expr(&[17, 2, left, right], None)
    }

    pub fn plus(&self, left: u32, right: u32) -> u32 {
        self.expr(&[17, 0, left, right], None)
    }

    pub fn condition(&self, test: u32, then: u32, otherwise: u32) -> u32 {
        self.expr(&[24, test, then, otherwise], None)
    }

    pub fn call(&self, name: &str, arguments: &[u32]) -> u32 {
        let name = self.string(name);
        self.expr(&[28, name], Some(arguments))
    }

    pub fn own_call(&self, function: u32, arguments: &[u32]) -> u32 {
        self.expr(&[27, function], Some(arguments))
    }

    /// A FLWOR; clauses are `[FOR, slot, source]`, `[LET, slot, source]` or `[WHERE, test]`.
    pub fn flwor(&self, clauses: &[&[u32]], result: u32) -> u32 {
        let mut entry = words(&[25, clauses.len() as u32]);
        for clause in clauses {
            entry.extend(words(clause));
            match clause[0] {
                FOR => entry.extend(words(&[0, 0])),
                LET => entry.extend(words(&[0])),
                _ => {}
            }
        }
        entry.extend(words(&[result]));
        push(&self.exprs, entry)
    }

    pub fn characters(&self, text: &str) -> u32 {
        let text = self.string(text);
        self.expr(&[34, text], None)
    }

    /// An element with a name `local`, or `prefix local uri`, and declarations.
    pub fn element(&self, name: &[&str], declared: &[(&str, &str)], content: &[u32]) -> u32 {
        let name = match name {
            [prefix, local, uri] => self.name(prefix, uri, local),
            name => self.name("", "", name[0]),
        };
        let mut entry = words(&[35, 0, name, declared.len() as u32]);
        for (prefix, uri) in declared {
            entry.extend(words(&[self.string(prefix), self.string(uri)]));
        }
        entry.extend(many(content));
        entry.extend(words(&[0]));
        push(&self.exprs, entry)
    }

    pub fn attribute(&self, name: &[&str], value: &[u32]) -> u32 {
        let name = match name {
            [prefix, local, uri] => self.name(prefix, uri, local),
            name => self.name("", "", name[0]),
        };
        let mut entry = words(&[36, 0, name]);
        entry.extend(many(value));
        entry.extend(words(&[0]));
        push(&self.exprs, entry)
    }

    /// A function with parameters in its first slots, without types.
    pub fn function(&self, parameters: u32, body: u32) -> u32 {
        let name = self.name("local", "urn:local", "f");
        let mut entry = words(&[name, parameters]);
        (0..parameters).for_each(|slot| entry.extend(words(&[slot, 0])));
        entry.extend(words(&[0, body]));
        push(&self.functions, entry)
    }

    /// The code of one expression that is evaluated for the document.
    pub fn code(&self, body: u32) -> Vec<u8> {
        let mut out = b"PSQ1\0".to_vec();
        let tables = [
            &self.strings,
            &self.names,
            &self.constants,
            &self.tests,
            &self.types,
            &self.exprs,
            &self.functions,
        ];
        for table in tables {
            let table = table.borrow();
            varint(table.len() as u32, &mut out);
            table.iter().for_each(|entry| out.extend_from_slice(entry));
        }
        // No variables of a prolog, and one entry.
        out.extend(words(&[0, 1, 0, body]));
        out
    }
}
