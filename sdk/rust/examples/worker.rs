mod order;

use abide_sdk::{Client, Error, Worker};

#[tokio::main]
async fn main() -> Result<(), Error> {
    Worker::new(&Client::from_env()?).handler("fulfil-order", order::fulfil).run().await
}
