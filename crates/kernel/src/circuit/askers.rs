//! For whom the circuit works: routes, and the targets whose expressions take them.

use super::Circuit;
use super::ids::RouteId;
use crate::ledger::Actor;
use crate::plan::{Output, Part, PartId, Plan, TargetId};
use rustc_hash::{FxHashMap, FxHashSet};

/// By route: the targets whose expressions take it.
pub(super) type Askers = FxHashMap<RouteId, Vec<TargetId>>;

impl Circuit {
    /// The targets for which an actor of the circuit's account works.
    pub fn askers(&mut self, actor: Actor) -> &[TargetId] {
        if self.askers.is_none() {
            self.askers = Some(self.all_askers());
        }
        let askers = self
            .askers
            .as_ref()
            .and_then(|all| all.get(&RouteId(actor)));
        askers.map_or(&[], Vec::as_slice)
    }

    /// What is worked on from now on is done because of a route.
    #[inline]
    pub(super) fn act_for(&mut self, route: RouteId) {
        self.cells.account.actor = route.0;
    }

    fn all_askers(&self) -> Askers {
        let plan = self.plan.clone();
        let mut askers = Askers::default();
        for &target in &self.routes.targets {
            let first = match plan.target(target).0 {
                Output::Select { set, .. } | Output::SelectAggregate { set, .. } => set,
                Output::SelectValue { atom, .. } | Output::SelectFilter { atom } => atom,
                _ => continue,
            };
            let beside = plan.beside(target).map(|(_, part)| part);
            for route in self.routes_of(&plan, beside.chain([first]).collect()) {
                askers.entry(route).or_default().push(target);
            }
        }
        askers
    }

    /// All routes that parts take, those of their predicates included.
    fn routes_of(&self, plan: &Plan, mut parts: Vec<PartId>) -> FxHashSet<RouteId> {
        let mut seen: FxHashSet<PartId> = parts.iter().copied().collect();
        let mut routes = FxHashSet::default();
        while let Some(part) = parts.pop() {
            let planned = self.routes.planned(part);
            for (_, first) in [planned.truth, planned.nodes] {
                let mut route = first;
                while route.is_some() && routes.insert(route) {
                    route = self.table[route].next;
                }
            }
            let folded = self.routes.folded.get(&part);
            routes.extend(folded.map(|&folded| self.routes.folds[folded].step));
            let counted = self.routes.counted.get(&part);
            routes.extend(counted.map(|&(counted, _)| self.routes.counts[counted].way));
            let shared = self.routes.shared.get(&part);
            routes.extend(shared.map(|shared| self.routes.indexes[shared.spec].route));
            let view = plan.part(part);
            let predicates = match view {
                Part::Step(step) => step.predicates,
                Part::Filter { predicates, .. } => predicates,
                _ => &[],
            };
            let inner = view
                .operands()
                .into_iter()
                .chain(predicates.iter().copied());
            parts.extend(inner.filter(|&inner| seen.insert(inner)));
        }
        routes
    }
}
