/** Texts of a shop's settings, for its owners and for the operator. They are loaded with the screens. */

import { isolating } from "../../isolated.ts";

const zeroTo = (most: string): string => `0 to ${most}`;

export const settingsTexts = isolating({
  title: "Settings",
  why: "Settings are changed by owners of the shop.",
  views: { shop: "Shop", approvals: "Approvals", documents: "Documents" },
  lead: "How this shop works. What you change holds for everybody, agents too, from the next request on.",
  formOf: (name: string) => `Settings of ${name}`,
  groups: {
    shop: "Shop",
    receiving: "Receiving and storefront",
    sending: "Sending",
    money: "Currencies",
    service: "Service",
    waiting: "Waiting",
  },
  settings: {
    name: { label: "Name of the shop", hint: "As people and agents see it." },
    autoSyncOnReceiving: {
      label: "Push stock when goods are received",
      hint: "Off: received goods stay here until somebody syncs them.",
    },
    emailOnSent: {
      label: "E-mail an order when it is sent",
      hint: "To its supplier's address, with the PDF, and with a link to answer by if the service's public address is set. Needs a mail server.",
    },
    replyTo: {
      label: "Answers to e-mails go to",
      hint: "An address of yours, like purchasing@shop.example. Empty: to the person who sends the order.",
    },
    unconfirmedDays: {
      label: "Suppliers confirm within (days)",
      hint: `Orders that wait for longer are marked, and webhooks are told. ${zeroTo("365")}; 0: none are.`,
    },
    costSyncMode: { label: "Costs at completion", hint: "What is written to the storefront as a product's unit cost." },
    onOrderTag: {
      label: "Tag of products on order",
      hint: "Products that are on order have it in the storefront. Empty: none.",
    },
    followOnWaitMs: {
      label: "An answer waits for follow-on work (ms)",
      hint: `How long a save waits for stock, tags and mail before it says that they are still under way. ${zeroTo("300,000")}; 2,000 to begin with.`,
    },
    confirmationWaitMs: {
      label: "A storefront sync waits for confirmation (ms)",
      hint: `How long a sync or a completion waits until the storefront shows the new stock. ${zeroTo("300,000")}; 30,000 to begin with.`,
    },
    restApi: { label: "REST API in the plan", hint: "Off: keys are refused, people are not." },
    capacity: { label: "Requests at once", hint: "How many may come together: all keys, and again all people." },
    refillPerSecond: { label: "Requests a second", hint: "How many may come all the time." },
    auditRetentionDays: {
      label: "Audit log is kept for (days)",
      hint: "Requests in the activity. 0: for good. No fewer days than the operator has set.",
    },
    auditRetentionFloorDays: {
      label: "Audit log is kept for at least (days)",
      hint: "What owners may set at least. 30 to begin with.",
    },
    timezone: { label: "Time zone", hint: "Says when a day begins. Of the IANA database, like Europe/Amsterdam." },
  },
  costSyncModes: { "unit-cost": "Unit cost of the order", "moving-average": "Moving average", disabled: "Not written" },
  rates: {
    title: "Exchange rates",
    hint: (shopCurrency: string) => `Orders in another currency are converted to ${shopCurrency} at these.`,
    currency: "Currency",
    rate: (currency: string, shopCurrency: string) => `1 ${currency === "" ? "…" : currency} in ${shopCurrency}`,
    remove: (currency: string) => (currency === "" ? "Remove" : `Remove ${currency}`),
    add: "Add a rate",
    notNumber: (currency: string) => `The rate of ${currency === "" ? "a currency" : currency} must be a number.`,
    noCurrency: "A rate has no currency.",
    twice: (currency: string) => `${currency} is there twice.`,
  },
  approvals: {
    lead: "An order that meets a rule is sent when somebody of the rule approves it. The first rule that it meets counts.",
    rules: "Rules",
    none: "There are no rules yet: whoever may send an order sends it.",
    name: { label: "Name", hint: "As whoever asks reads it: “Above 1,000”." },
    totalAbove: (currency: string) => ({ label: `Total above (${currency})`, hint: "Empty: any total." }),
    suppliers: "Only of these suppliers",
    locations: "Only for these locations",
    anyPlace: "Any",
    actors: { label: "Sent by", any: "Anybody", agents: "Agents and programs", people: "People" },
    roles: "Who approves",
    people: "And these people",
    nobody: "Choose a role or a person.",
    remove: (name: string) => `Remove ${name === "" ? "the rule" : name}`,
    add: "Add a rule",
    rest: "Everything else",
    approverRoles: "Who decides what no rule is about",
    approveOwnAgents: {
      label: "People may approve what their own agents ask",
      hint: "Nobody approves what they asked for themselves.",
    },
    approvalMails: {
      label: "Mail those who may decide",
      hint: "People with an e-mail address, where the service sends e-mail. A second mail within 15 minutes waits for what else comes.",
    },
    approvalDays: { label: "A request waits for (days)", hint: "Then it ends, and nothing is done. 1 to 90." },
  },
  ofOperator: {
    title: "Set by the operator of the service",
    currency: "Currency of the shop",
    storefront: "Storefront",
    restApi: "REST API",
    restApiOn: "in the plan: keys may call it",
    restApiOff: "not in the plan: keys are refused",
    rate: "Requests",
    rateOf: (perSecond: string, atOnce: string) => `${perSecond} a second, ${atOnce} at once`,
  },
  notNumber: "must be a number",
  save: "Save",
  saved: "Saved.",
} as const);
