//! An engine on a file of its own, with the settings a test gives it.

use abide_core::definition::Definition;
use abide_core::history::Record;
use abide_core::id::RunId;
use abide_core::status::RunStatus;
use abide_engine::{Ended, Engine, Options, SettableClock};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Place {
    directory: TempDir,
    pub(crate) engine: Engine,
}

impl Place {
    pub(crate) async fn new(options: Options) -> Place {
        let directory = tempfile::tempdir().unwrap();
        let clock = SettableClock::new("2026-03-01T00:00:00Z".parse().unwrap());
        let engine = options.clock(clock).open(directory.path().join("abide.db")).await.unwrap();
        Place { directory, engine }
    }

    /// Loopback is where the tests' receivers are.
    pub(crate) async fn on_loopback(options: Options) -> Place {
        Place::new(options.allow(["127.0.0.1".parse().unwrap()])).await
    }

    pub(crate) async fn deploy(&self, document: Value) {
        let checked = Definition::from_value(document).unwrap();
        self.engine.default_workspace().definitions().deploy_checked(checked).await.unwrap();
    }

    pub(crate) async fn run(&self, document: Value, input: Value) -> (RunId, Ended) {
        let name = document["name"].as_str().unwrap().to_owned();
        self.deploy(document).await;
        let run = self.engine.start(&name, input).await.unwrap();
        (run, self.engine.clock().skip_waits(run).await.unwrap().expect("it ends by itself"))
    }

    pub(crate) async fn history(&self, run: RunId) -> Vec<Record> {
        self.engine.run(run).history().await.unwrap().unwrap().history
    }

    /// All that is stored of a run, as text.
    pub(crate) async fn told(&self, run: RunId) -> String {
        serde_json::to_string(&self.history(run).await).unwrap()
    }

    /// Everything in the files of the store.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.directory.path()).unwrap();
        files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    }
}

pub(crate) fn output(ended: &Ended) -> Value {
    assert_eq!(ended.status, RunStatus::Completed, "{:?}", ended.error);
    ended.output.as_deref().cloned().unwrap_or_default()
}

pub(crate) fn failure(ended: &Ended) -> (String, String) {
    assert_eq!(ended.status, RunStatus::Failed, "{ended:?}");
    let error = ended.error.clone().unwrap();
    (error.code.to_string(), error.message)
}
