//! What may be called, and with what: from whoever opens the engine, never from a definition.

use std::collections::BTreeMap;

use abide_calls::http::{Policy, Rule};
use abide_calls::models::{self, Model, Provider};
use abide_calls::secrets::Secrets;
use abide_calls::signing::Keys;
use abide_core::definition::document::{Guardrail, Llm, MapStepKind, StepKind};
use abide_core::definition::{Action, Definition};
use abide_core::id::WorkspaceId;
use abide_core::problem::{Code, Problem};

#[derive(Clone, Debug, Default)]
pub struct CallSettings {
    /// The addresses that `http` steps, handlers' URLs and webhooks may reach.
    pub policy: Policy,
    pub secrets: Secrets,
    pub models: models::Settings,
    /// Handlers that are called at a URL, by name.
    pub handlers: BTreeMap<String, UrlHandler>,
    /// What calls to handlers, and `http` steps that ask for it, are signed with.
    pub signing: Option<Keys>,
    /// A server will say where receivers can report later ([`Engine::reports_at`](crate::Engine::reports_at)); tasks are
    /// posted when it has.
    pub served: bool,
}

/// A handler behind a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlHandler {
    pub url: String,
}

impl CallSettings {
    /// Allows what would be refused.
    pub fn allow(&mut self, rules: impl IntoIterator<Item = Rule>) {
        self.policy = Policy::allowing(rules);
    }

    /// Allows these besides what is allowed already.
    pub fn allow_also(&mut self, rules: impl IntoIterator<Item = Rule>) {
        self.policy = std::mem::take(&mut self.policy).and(rules);
    }

    pub fn provider(&mut self, name: &str, provider: Provider) {
        self.models.providers.insert(name.to_owned(), provider);
    }

    pub fn model(&mut self, name: &str, model: Model) {
        self.models.models.insert(name.to_owned(), model);
    }

    pub fn handler(&mut self, name: &str, url: &str) {
        self.handlers.insert(name.to_owned(), UrlHandler { url: url.to_owned() });
    }

    /// What a workflow asks for and these settings do not have. Its runs would fail there.
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
            | Action::Child { .. } => return,
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

/// Every model that a workflow names, with the place where it does.
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
            | StepKind::Workflow(_) => {}
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
