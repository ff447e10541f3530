//! The form of a program for the broker, read and checked.

use crate::message::{Head, Test};
use crate::plan::{ProgramError, Read, Reader};
use crate::vocabulary::NodeKind;
use penstock_broker::{
    Axis, BindingStep, Condition, Constant, Field, Kind, Operator, Path, Step, TestId,
};

/// Conditions and contents may be nested so deeply.
const DEPTH_MAX: usize = 128;

/// Characters, or a piece by its number.
pub enum Part {
    /// Characters.
    Characters(Box<str>),
    /// A piece.
    Piece(usize),
}

/// What a message is made of.
pub enum Content {
    /// Characters or a piece.
    Part(Part),
    /// Where the content of bound nodes goes: of each, or of all at once.
    Loop {
        /// The content is of all nodes at once.
        is_set: bool,
        /// What is said.
        content: Vec<Content>,
    },
    /// An element.
    Element {
        /// Its name.
        name: Box<str>,
        /// Its attributes and their values.
        attributes: Vec<(Box<str>, Vec<Part>)>,
        /// What is in it.
        content: Vec<Content>,
    },
}

/// An expression that is evaluated once for a node, or for a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PieceForm<'a> {
    /// It gives the characters of an attribute.
    pub is_attribute: bool,
    /// Its code.
    pub code: &'a [u8],
    /// Where it leads, if it is a mere path to elements.
    pub steps: Option<Vec<Step>>,
}

/// A query as the broker reads it. Tests are numbers of the caller's.
pub struct Brokered<'a> {
    /// The path to the bound nodes.
    pub binding: Vec<BindingStep>,
    /// What holds at them.
    pub condition: Condition,
    /// The bytes of the message, which tell outputs apart.
    pub output: &'a [u8],
    /// The message.
    pub message: Content,
    /// Its pieces.
    pub pieces: Vec<PieceForm<'a>>,
    /// The stream whose documents are read; None: all.
    pub stream: Option<&'a str>,
}

/// Whether a program has a form for the broker.
pub fn is_brokered(program: &[u8]) -> bool {
    Head::of(program).is_ok_and(|head| head.form.is_some())
}

impl<'a> Brokered<'a> {
    /// Reads the form of a program, if it has one; tests get numbers.
    pub fn read(program: &'a [u8], test: &mut dyn FnMut(Test) -> TestId) -> Read<Option<Self>> {
        let head = Head::of(program)?;
        let Some(bytes) = head.form else {
            return Ok(None);
        };
        let mut form = FormReader {
            reader: Reader::new(bytes),
            test,
            is_lenient: false,
            pieces: Vec::new(),
        };
        form.is_lenient = form.reader.below(2)? == 1;
        let count = form.reader.count()?;
        let mut binding = Vec::with_capacity(count);
        for _ in 0..count {
            let step = form.step()?;
            let condition = form.condition(0)?;
            binding.push(BindingStep { step, condition });
        }
        if binding.is_empty() {
            return Err(ProgramError("it binds nothing"));
        }
        let condition = form.condition(0)?;
        let output = form.reader.rest();
        let message = form.content(0)?;
        form.reader.end()?;
        Ok(Some(Brokered {
            binding,
            condition,
            output,
            message,
            pieces: form.pieces,
            stream: head.stream,
        }))
    }
}

struct FormReader<'a, 't> {
    reader: Reader<'a>,
    test: &'t mut dyn FnMut(Test) -> TestId,
    is_lenient: bool,
    pieces: Vec<PieceForm<'a>>,
}

fn deep<T>() -> Read<T> {
    Err(ProgramError("it is nested too deeply"))
}

impl<'a> FormReader<'a, '_> {
    fn many<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.reader.count()?;
        (0..count).map(|_| read(self)).collect()
    }

    fn test(&mut self, kind: NodeKind) -> Read<TestId> {
        let test = Test::read(&mut self.reader)?;
        if test.kind != kind {
            return Err(ProgramError("a test of another kind"));
        }
        Ok((self.test)(test))
    }

    fn step(&mut self) -> Read<Step> {
        let axis = match self.reader.below(2)? {
            0 => Axis::Child,
            _ => Axis::Descendant,
        };
        Ok((axis, self.test(NodeKind::Element)?))
    }

    fn path(&mut self) -> Read<Path> {
        let steps = self.many(Self::step)?.into();
        let field = match self.reader.below(3)? {
            0 => Field::Element,
            1 => Field::Text,
            _ => Field::Attribute(self.test(NodeKind::Attribute)?),
        };
        Ok(Path { steps, field })
    }

    fn condition(&mut self, depth: usize) -> Read<Condition> {
        if depth > DEPTH_MAX {
            return deep();
        }
        Ok(match self.reader.below(5)? {
            0 => Condition::And(self.many(|form| form.condition(depth + 1))?),
            1 => Condition::Or(self.many(|form| form.condition(depth + 1))?),
            2 => Condition::Not(Box::new(self.condition(depth + 1)?)),
            3 => Condition::Exists(self.path()?),
            _ => self.comparison()?,
        })
    }

    fn comparison(&mut self) -> Read<Condition> {
        let path = self.path()?;
        let operator = match self.reader.below(6)? {
            0 => Operator::Equal,
            1 => Operator::NotEqual,
            2 => Operator::Less,
            3 => Operator::LessOrEqual,
            4 => Operator::Greater,
            _ => Operator::GreaterOrEqual,
        };
        let is_number = self.reader.below(2)? == 1;
        let text = self.reader.bytes()?;
        let (kind, constant) = if is_number {
            let number = penstock_sequences::eval::double(text);
            let number = number.filter(|number| !number.is_nan());
            let number = number.ok_or(ProgramError("a number is none"))?;
            let kind = match self.is_lenient {
                true => Kind::LenientNumber,
                false => Kind::Number,
            };
            (kind, Constant::Number(number))
        } else {
            (Kind::Text, Constant::Text(text.into()))
        };
        Ok(Condition::Compare(path, kind, operator, constant))
    }

    fn piece(&mut self, is_attribute: bool) -> Read<Part> {
        let code = self.reader.bytes()?;
        let steps = match is_attribute || self.reader.below(2)? == 0 {
            true => None,
            false => Some(self.many(Self::step)?),
        };
        self.pieces.push(PieceForm {
            is_attribute,
            code,
            steps,
        });
        Ok(Part::Piece(self.pieces.len() - 1))
    }

    fn content(&mut self, depth: usize) -> Read<Content> {
        if depth > DEPTH_MAX {
            return deep();
        }
        Ok(match self.reader.below(4)? {
            0 => Content::Part(Part::Characters(self.reader.text()?.into())),
            1 => Content::Part(self.piece(false)?),
            2 => Content::Loop {
                is_set: self.reader.below(2)? == 1,
                content: self.many(|form| form.content(depth + 1))?,
            },
            _ => Content::Element {
                name: self.reader.text()?.into(),
                attributes: self.many(|form| {
                    let name = form.reader.text()?.into();
                    let parts = form.many(|form| match form.reader.below(2)? {
                        0 => Ok(Part::Characters(form.reader.text()?.into())),
                        _ => form.piece(true),
                    })?;
                    Ok((name, parts))
                })?,
                content: self.many(|form| form.content(depth + 1))?,
            },
        })
    }
}
