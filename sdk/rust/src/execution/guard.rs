//! What keeps a handler from being suspended while something new is done, or is about to be.

use super::Execution;

/// Something new is being done: the handler is not left.
pub(super) struct Busy<'a>(&'a Execution);

impl Busy<'_> {
    pub(super) fn new(execution: &Execution) -> Busy<'_> {
        execution.locked(|state| state.busy += 1);
        Busy(execution)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.locked(|state| {
            state.busy -= 1;
            state.activity += 1;
        });
        self.0.driver.wake();
    }
}

/// Something new is to be done, and must not be yet.
pub(super) struct Held<'a>(&'a Execution, String);

impl Held<'_> {
    pub(super) fn new<'a>(execution: &'a Execution, name: &str) -> Held<'a> {
        execution.locked(|state| state.held.push(name.to_owned()));
        execution.driver.wake();
        Held(execution, name.to_owned())
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.locked(|state| state.held.retain(|held| *held != self.1));
    }
}
