// A trip of three bookings. When one cannot be had, those that were made are undone, the last one first.
import { handler, isSuspended, workflow } from "abide-sdk";
import { TestServer } from "abide-sdk/testing";

interface Trip {
  traveller: string;
  soldOut?: string;
}
const ledger: string[] = [];
const booking = {
  async book(what: string, trip: Trip, key: string) {
    if (trip.soldOut === what) throw new Error(`no ${what} left`);
    ledger.push(`book ${what}`);
    return { what, key };
  },
  async cancel(what: string) {
    ledger.push(`cancel ${what}`);
  },
};

const travel = handler<Trip, string>("travel", async (ctx, trip) => {
  const undo: string[] = [];
  try {
    for (const what of ["flight", "hotel", "car"]) {
      await ctx.run(what, (call) => booking.book(what, trip, call.idempotencyKey), { retry: 3 });
      undo.push(what);
    }
    return "booked";
  } catch (error) {
    if (isSuspended(error)) throw error; // not an error: the handler goes on later
    for (const what of undo.reverse()) await ctx.run(`cancel-${what}`, () => booking.cancel(what), { retry: 10 });
    return `not booked: ${(error as Error).message}`;
  }
});
const trips = workflow<Trip, string>("trips").task("travel", travel);

const server = await TestServer.start();
server.worker({ handlers: [travel], log: () => {} });
await server.client.deploy(trips);
console.log(await server.runThrough(trips, { traveller: "ana" }));
ledger.length = 0;
console.log(await server.runThrough(trips, { traveller: "ben", soldOut: "car" }));
console.log(ledger.join(", "));
await server.close();
