//! Calls of built-in functions of atomic values, of functions that the query declares, and the
//! values of its global variables.

use super::item::{Item, Sequence};
use super::run::{Flow, Focus, Run, steps_of_bytes};
use crate::atomic::Atomic;
use crate::code::{ExprId, Slot};
use crate::functions::{self, Builtin, Call, Values};
use smallvec::SmallVec;

impl<'a> Run<'a> {
    /// A call of a function of atomic values.
    pub fn call(
        &mut self,
        builtin: &'static Builtin,
        arguments: &[ExprId],
        focus: Focus<'_>,
    ) -> Flow<Sequence> {
        let mut values: SmallVec<[Values; 3]> = SmallVec::new();
        for (place, &argument) in arguments.iter().enumerate() {
            let found = self.atoms(argument, focus)?;
            values.push(match builtin.parameter(place) {
                Some(parameter) => functions::convert(found, parameter)?,
                None => found,
            });
        }
        let texts = values.iter().flatten().filter_map(Atomic::as_text);
        let bytes: usize = texts.map(|text| text.len()).sum();
        self.charge(steps_of_bytes(bytes));
        let result = self.with_environment(|environment, meter| {
            (builtin.call)(&mut Call {
                builtin,
                arguments: &mut values,
                environment,
                meter,
            })
        })?;
        self.charge(result.len() as u64);
        Ok(result.into_iter().collect())
    }

    /// The atomic values of an expression.
    pub fn atoms(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Values> {
        let mut values = Values::new();
        self.each(id, focus, &mut |run, item| {
            values.push(match item {
                Item::Atomic(value) => value,
                node => run.atomize(&node),
            });
            Ok(())
        })?;
        Ok(values)
    }

    /// A call of a function that the query declares.
    pub fn own_call(
        &mut self,
        function: u32,
        arguments: &[ExprId],
        focus: Focus<'_>,
    ) -> Flow<Sequence> {
        let values = self.arguments(function, arguments, focus)?;
        let code = self.code;
        let function = &code.functions[function as usize];
        let value = self.in_frame(function.frame, values, |run| {
            run.value(function.body, Focus::default())
        })?;
        match function.result {
            Some(type_) => self.convert(value, type_),
            None => Ok(value),
        }
    }

    /// The converted arguments of a call.
    pub fn arguments(
        &mut self,
        function: u32,
        arguments: &[ExprId],
        focus: Focus<'_>,
    ) -> Flow<Vec<(Slot, Sequence)>> {
        let parameters = &self.code.functions[function as usize].parameters;
        let mut values = Vec::with_capacity(arguments.len());
        for (&(slot, type_), &argument) in parameters.iter().zip(arguments) {
            let mut value = self.value(argument, focus)?;
            if let Some(type_) = type_ {
                value = self.convert(value, type_)?;
            }
            values.push((slot, value));
        }
        Ok(values)
    }

    /// The value of a global variable, which is computed when it is first asked for.
    pub fn global(&mut self, index: u32) -> Flow<Sequence> {
        if let Some(value) = &self.state.globals[index as usize] {
            return Ok(value.clone());
        }
        let code = self.code;
        let global = &code.globals[index as usize];
        let body = global.value;
        let document = Item::Node(self.document(0)?);
        let frame = code.facts(body).frame;
        let value = self.in_frame(frame, Vec::new(), |run| {
            run.value(body, Focus::on(&document))
        })?;
        if let Some(type_) = global.type_ {
            self.check(&value, type_, "XPTY0004")?;
        }
        self.state.globals[index as usize] = Some(value.clone());
        Ok(value)
    }
}
