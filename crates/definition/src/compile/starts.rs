//! The events that start runs.

use std::sync::Arc;

use serde_json::Value;

use super::text::Sees;
use super::{Compiler, Place};
use crate::document;
use crate::guard::{Guard, GuardAction, Restart};
use crate::start_on::StartOn;

impl Compiler<'_> {
    pub(super) fn start_on(&mut self, starts: Option<&[document::StartOn]>) -> Vec<StartOn> {
        let compiled = starts.unwrap_or_default().iter().enumerate().filter_map(|(index, start)| {
            self.place = Place { pointer: format!("/startOn/{index}"), ..Place::document() };
            self.one_start(start)
        });
        let compiled = compiled.collect();
        self.place = Place::document();
        compiled
    }

    fn one_start(&mut self, start: &document::StartOn) -> Option<StartOn> {
        self.plain("eventId", &start.event_id);
        let matching = start.r#match.as_deref();
        let matching = matching.map(|source| self.expression_seeing("match", source, Sees::Event));
        let input = start.input.as_ref();
        let input = input.map(|input| self.template_seeing("input", input, Sees::Event));
        let key = start.idempotency_key.as_deref().map(Value::from);
        let key = key.map(|key| self.template_seeing("idempotencyKey", &key, Sees::Event));
        Some(StartOn {
            event_id: Arc::from(start.event_id.as_str()),
            matching: transposed(matching)?,
            input: transposed(input)?,
            key: transposed(key)?,
        })
    }
}

impl Compiler<'_> {
    pub(super) fn guards(
        &mut self,
        cancels: Option<&[document::CancelOn]>,
        restarts: Option<&[document::RestartOn]>,
    ) -> Vec<Guard> {
        let mut guards = Vec::new();
        for (index, cancel) in cancels.unwrap_or_default().iter().enumerate() {
            self.place = Place { pointer: format!("/cancelOn/{index}"), ..Place::document() };
            guards.extend(self.guard(&cancel.event_id, cancel.r#match.as_deref(), GuardAction::Cancel));
        }
        for (index, restart) in restarts.unwrap_or_default().iter().enumerate() {
            self.place = Place { pointer: format!("/restartOn/{index}"), ..Place::document() };
            let input = restart.input.as_ref();
            let input = input.map(|input| self.template_seeing("input", input, Sees::Event));
            let Some(input) = transposed(input) else { continue };
            let action = GuardAction::Restart(Restart { input });
            guards.extend(self.guard(&restart.event_id, restart.r#match.as_deref(), action));
        }
        self.place = Place::document();
        guards
    }

    fn guard(&mut self, event_id: &str, matching: Option<&str>, action: GuardAction) -> Option<Guard> {
        self.plain("eventId", event_id);
        let matching = matching.map(|source| self.expression_seeing("match", source, Sees::EventAndInput));
        Some(Guard { event_id: Arc::from(event_id), matching: transposed(matching)?, action })
    }
}

/// What was given and is good, or was not given; `None` where it is bad.
fn transposed<T>(given: Option<Option<T>>) -> Option<Option<T>> {
    given.map_or(Some(None), |good| good.map(Some))
}
