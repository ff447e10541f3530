//! Namespace declarations in scope.

use std::rc::Rc;

/// A prefix and the namespace name it is bound to.
pub type Declared = (Box<[u8]>, Box<[u8]>);
/// Those that are in force somewhere.
pub type Declarations = Vec<Declared>;

/// Namespace declarations in scope: a chain of the elements that declared any.
#[derive(Debug, Default)]
pub struct Scope {
    /// The scope around this one.
    pub outer: Option<Rc<Scope>>,
    /// `(prefix, uri)`; an empty prefix is the default namespace, an empty uri undeclares it.
    pub declared: Box<[Declared]>,
}

impl Scope {
    /// The declarations in force: inner ones hide outer ones, an undeclared default is left out.
    pub fn declarations(&self) -> Declarations {
        let mut found = Declarations::new();
        let mut at = Some(self);
        while let Some(scope) = at {
            for (prefix, uri) in scope.declared.iter() {
                if !found.iter().any(|(seen, _)| seen == prefix) {
                    found.push((prefix.clone(), uri.clone()));
                }
            }
            at = scope.outer.as_deref();
        }
        found.retain(|(_, uri)| !uri.is_empty());
        found.sort();
        found
    }
}

// A chain may be as deep as the document, and dropping it must not use up the machine's stack.
impl Drop for Scope {
    fn drop(&mut self) {
        let mut outer = self.outer.take();
        while let Some(mut scope) = outer.and_then(Rc::into_inner) {
            outer = scope.outer.take();
        }
    }
}
