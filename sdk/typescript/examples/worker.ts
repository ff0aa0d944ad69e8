import { Worker } from "abide";

import { fulfil } from "./order.js";

await new Worker({ handlers: [fulfil] }).run();
