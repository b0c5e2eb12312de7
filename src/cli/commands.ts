/**
 * The operator's commands, in the order of the help. Each calls operations by name and shows what they answer; none
 * knows a rule of its own.
 */
import { approvalApprove, approvalList, approvalReject, orderComment, orderComments } from "./shops/approvals.ts";
import { auditExport, auditHead, auditVerify } from "./shops/audit-chain.ts";
import { audit } from "./shops/audit-log.ts";
import { backup, restore } from "./copies/backups.ts";
import type { RunnableCommand } from "./command.ts";
import { consoleInvite, consolePeople } from "./shops/console.ts";
import { demo } from "./demo.ts";
import { keyCreate, keyList, keyRevoke } from "./shops/keys.ts";
import { orderDocument } from "./shops/orders.ts";
import { recordCommands } from "./shops/kept-records.ts";
import { exportFile, importFile } from "./shops/records.ts";
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
} from "./shops/sending.ts";
import { shopCreate, shopDelete, shopList } from "./shops/shops.ts";
import {
  storefrontConnect,
  storefrontDisconnect,
  storefrontPull,
  storefrontStatus,
  storefrontWebhooks,
} from "./shops/storefronts.ts";
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
} from "./shops/webhooks.ts";

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
  ...recordCommands,
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
  orderComment,
  orderComments,
  approvalList,
  approvalApprove,
  approvalReject,
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
