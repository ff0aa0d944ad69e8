//! Models that are answered for here, so that a workflow can be tried without paying.

use std::fs;

use abide_definition::Definition;
use abide_engine::{CallSettings, Model, Price, Provider, models_of};
use abide_standin::{Script, StandIn};

use crate::client::Error;

/// The name of its provider, which no setting has.
const PROVIDER: &str = "stand-in";
/// A million tokens, in millionths: of the size of real prices.
const PRICE: Price = Price { input: 1_000_000, cached_input: None, output: 4_000_000 };

/// With the script of this file; without a file, answers repeat the question.
pub(super) async fn start(file: &str) -> Result<StandIn, Error> {
    let script = match file {
        "" => Script::default(),
        file => {
            let text =
                fs::read(file).map_err(|error| Error::Usage(format!("{file} cannot be read: {error}")))?;
            let script = serde_json::from_slice(&text);
            script.map_err(|error| Error::Usage(format!("{file} is not a script: {error}")))?
        }
    };
    StandIn::of(script).await.map_err(|error| Error::Failed(format!("the stand-in cannot listen: {error}")))
}

/// Every model of the workflow is its own.
pub(super) fn answer(stand_in: &StandIn, definition: &Definition, calls: &mut CallSettings) {
    calls.provider(PROVIDER, Provider::compatible(stand_in.url(), None));
    for (_, model) in models_of(definition) {
        let served = Model { provider: PROVIDER.to_owned(), name: Some(model.clone()), price: Some(PRICE) };
        calls.model(&model, served);
    }
}
