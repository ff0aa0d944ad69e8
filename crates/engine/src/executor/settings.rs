//! The settings of outgoing calls. They come from whoever opens the engine, never from a definition.

use std::collections::BTreeMap;

use abide_calls::http::{Policy, Rule};
use abide_calls::models::{self, Model, Provider};
use abide_calls::secrets::Secrets;
use abide_calls::signing::Keys;
use abide_core::definition::document::{Guardrail, Llm, MapStepKind, StepKind};
use abide_core::definition::{Action, Definition};
use abide_core::id::WorkspaceId;
use abide_core::problem::{Code, Problem};

/// The settings of outgoing calls: what may be called, and with what.
#[derive(Clone, Debug, Default)]
pub struct CallSettings {
    /// The addresses that `http` steps, handlers' URLs and webhooks may reach.
    pub policy: Policy,
    /// The secrets that `http` steps name, and the hosts each may be sent to.
    pub secrets: Secrets,
    /// The providers and models that `llm` steps name.
    pub models: models::Settings,
    /// The handlers that are called at a URL, by name.
    pub handlers: BTreeMap<String, UrlHandler>,
    /// The keys that calls to handlers, and `http` steps that ask for it, are signed with; `None`: nothing is signed.
    pub signing: Option<Keys>,
    /// Whether a server will say where receivers can report later
    /// ([`Engine::reports_at`](crate::Engine::reports_at)); tasks are posted when it has.
    pub served: bool,
}

/// A handler behind a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlHandler {
    /// The URL that tasks are posted to.
    pub url: String,
}

impl CallSettings {
    /// Sets the addresses that may be reached although the policy would refuse them.
    pub fn allow(&mut self, rules: impl IntoIterator<Item = Rule>) {
        self.policy = Policy::allowing(rules);
    }

    /// Adds addresses that may be reached although the policy would refuse them.
    pub fn allow_also(&mut self, rules: impl IntoIterator<Item = Rule>) {
        self.policy = std::mem::take(&mut self.policy).and(rules);
    }

    /// Adds a provider of models under this name.
    pub fn provider(&mut self, name: &str, provider: Provider) {
        self.models.providers.insert(name.to_owned(), provider);
    }

    /// Adds a model by the name that definitions use.
    pub fn model(&mut self, name: &str, model: Model) {
        self.models.models.insert(name.to_owned(), model);
    }

    /// Adds a handler that is called at a URL.
    pub fn handler(&mut self, name: &str, url: &str) {
        self.handlers.insert(name.to_owned(), UrlHandler { url: url.to_owned() });
    }

    /// Warnings about what a workflow names and these settings do not have: its runs would fail there.
    pub fn warnings(&self, workspace: WorkspaceId, definition: &Definition) -> Vec<Problem> {
        let mut warnings = Vec::new();
        for (at, model) in models_of(definition) {
            if let Err(unknown) = self.models.knows(&model) {
                warnings.push(Problem::new(at, Code::UnknownValue, unknown.to_string()));
            }
        }
        for (index, step) in definition.steps.iter().enumerate() {
            self.unknown_secrets(workspace, &format!("/steps/{index}"), &step.action, &mut warnings);
        }
        warnings
    }

    fn unknown_secrets(
        &self,
        workspace: WorkspaceId,
        at: &str,
        action: &Action,
        warnings: &mut Vec<Problem>,
    ) {
        let work = match action {
            Action::Work(work) => work,
            Action::Map(map) => {
                return self.unknown_secrets(workspace, &format!("{at}/step"), &map.step.action, warnings);
            }
            Action::Wait(_)
            | Action::Condition { .. }
            | Action::Signal { .. }
            | Action::Event { .. }
            | Action::Webhook { .. }
            | Action::Approval(_)
            | Action::Respond { .. }
            | Action::Child { .. }
            | Action::Group(_) => return,
        };
        let paths = work.input.iter().flat_map(|input| input.paths());
        for (inside, path) in paths {
            if let [root, name] = path.as_slice()
                && root == "secret"
                && let Err(unknown) = self.secrets.get(workspace, name)
            {
                warnings.push(Problem::new(format!("{at}{inside}"), Code::UnknownValue, unknown.to_string()));
            }
        }
    }
}

/// The models that a workflow names, each with a JSON pointer to where it does.
pub fn models_of(definition: &Definition) -> Vec<(String, String)> {
    let mut models = Vec::new();
    for (index, step) in definition.document.steps.iter().enumerate() {
        let at = format!("/steps/{index}");
        match &step.kind {
            StepKind::Llm(llm) => models_of_step(&at, llm, &mut models),
            StepKind::Map(map) => {
                if let MapStepKind::Llm(llm) = &map.step.kind {
                    models_of_step(&format!("{at}/step"), llm, &mut models);
                }
            }
            StepKind::Task(_)
            | StepKind::Wait(_)
            | StepKind::Condition(_)
            | StepKind::ExternalEvent(_)
            | StepKind::WaitForEvent(_)
            | StepKind::Webhook(_)
            | StepKind::Approval(_)
            | StepKind::Http(_)
            | StepKind::Notify(_)
            | StepKind::Respond(_)
            | StepKind::Workflow(_)
            | StepKind::WaitAny(_)
            | StepKind::WaitAll(_)
            | StepKind::WaitSome(_) => {}
        }
    }
    models
}

fn models_of_step(at: &str, llm: &Llm, models: &mut Vec<(String, String)>) {
    models.push((format!("{at}/model"), llm.model.clone()));
    for (index, model) in llm.fallback_models.iter().flatten().enumerate() {
        models.push((format!("{at}/fallbackModels/{index}"), model.clone()));
    }
    for (index, guardrail) in llm.guardrails.iter().flatten().enumerate() {
        match guardrail {
            Guardrail::ContentSafety { judge_model: Some(model), .. } => {
                models.push((format!("{at}/guardrails/{index}/judgeModel"), model.clone()));
            }
            Guardrail::ContentSafety { .. }
            | Guardrail::SchemaValidation { .. }
            | Guardrail::ConfidenceThreshold { .. } => {}
        }
    }
}
