/**
 * The operator's commands, in the order of the help. Each calls operations by name and shows what they answer; none knows a rule
 * of its own.
 */
import { auditExport, auditHead, auditVerify } from "./audit-chain.ts";
import { audit } from "./audit-log.ts";
import { backup, restore } from "./backups.ts";
import type { RunnableCommand } from "./command.ts";
import { consoleInvite, consolePeople } from "./console.ts";
import { demo } from "./demo.ts";
import { keyCreate, keyList, keyRevoke } from "./keys.ts";
import { orderDocument } from "./orders.ts";
import { exportFile, importFile } from "./records.ts";
import {
  orderAccept,
  orderLink,
  orderLinks,
  orderMails,
  orderProposals,
  orderReject,
  orderResend,
  orderRevoke,
  orderSend,
} from "./sending.ts";
import { shopCreate, shopDelete, shopList } from "./shops.ts";
import {
  storefrontConnect,
  storefrontDisconnect,
  storefrontPull,
  storefrontStatus,
  storefrontWebhooks,
} from "./storefronts.ts";
import {
  webhookCreate,
  webhookDelete,
  webhookDeliveries,
  webhookList,
  webhookReplay,
  webhookRetry,
  webhookRotate,
  webhookTest,
  webhookUpdate,
} from "./webhooks.ts";

export const commands: readonly RunnableCommand[] = [
  shopCreate,
  shopList,
  shopDelete,
  storefrontConnect,
  storefrontStatus,
  storefrontPull,
  storefrontWebhooks,
  storefrontDisconnect,
  keyCreate,
  keyList,
  keyRevoke,
  consoleInvite,
  consolePeople,
  importFile,
  exportFile,
  orderDocument,
  orderSend,
  orderMails,
  orderResend,
  orderLink,
  orderLinks,
  orderRevoke,
  orderProposals,
  orderAccept,
  orderReject,
  backup,
  restore,
  // Before the shorter name that they begin with.
  auditVerify,
  auditHead,
  auditExport,
  audit,
  webhookCreate,
  webhookList,
  webhookUpdate,
  webhookDelete,
  webhookRotate,
  webhookTest,
  webhookDeliveries,
  webhookRetry,
  webhookReplay,
  demo,
];
