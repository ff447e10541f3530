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
        let chain = std::iter::successors(Some(self), |scope| scope.outer.as_deref());
        let mut found: Vec<&Declared> = chain.flat_map(|scope| scope.declared.iter()).collect();
        // Of equal prefixes the innermost stays first.
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found.dedup_by(|next, first| next.0 == first.0);
        found.retain(|(_, uri)| !uri.is_empty());
        found.into_iter().cloned().collect()
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
