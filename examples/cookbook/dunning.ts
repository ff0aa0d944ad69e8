// A failed payment: three reminders, further apart each time, until the invoice is paid or the account is suspended.
import { handler, workflow } from "abide-sdk";
import { TestServer } from "abide-sdk/testing";

interface Invoice {
  id: number;
  customer: string;
}
const REMIND_AFTER = ["1d", "3d", "7d"];
const sent: string[] = [];
const mail = async (customer: string, template: string) => void sent.push(`${customer}: ${template}`);

const dunning = handler<Invoice, string>("dunning", async (ctx, invoice) => {
  for (const [round, pause] of REMIND_AFTER.entries()) {
    const paid = await ctx.waitForEvent(`paid-${round}`, "invoice.paid", { where: { id: invoice.id }, timeout: pause });
    if (paid !== undefined) return `paid after ${round} reminder(s)`;
    await ctx.run(`remind-${round}`, () => mail(invoice.customer, `reminder ${round + 1}`));
  }
  const paid = await ctx.waitForEvent("last-chance", "invoice.paid", { where: { id: invoice.id }, timeout: "7d" });
  if (paid !== undefined) return "paid at the last moment";
  await ctx.run("suspend", () => mail(invoice.customer, "your account is suspended"));
  return "suspended";
});
const invoices = workflow<Invoice, string>("dunning").task("dun", dunning);

// In virtual time: one customer pays after the second reminder, another never does.
const server = await TestServer.start();
server.worker({ handlers: [dunning] });
await server.client.deploy(invoices);
const paying = await server.client.start(invoices, { id: 1, customer: "ana" });
const silent = await server.client.start(invoices, { id: 2, customer: "ben" });
await server.advance("5d");
await server.client.notify("invoice.paid", { id: 1 });
await server.skipWaits(silent);
console.log("ana:", await paying.result());
console.log("ben:", await silent.result());
console.log(sent.filter((line) => line.startsWith("ben")).length, "mails to ben");
await server.close();
