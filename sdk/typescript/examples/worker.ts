import { Worker } from "abide-sdk";

import { fulfil } from "./order.js";

await new Worker({ handlers: [fulfil] }).run();
