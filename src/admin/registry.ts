/** Every operation of the admin API. */
import { auditChain, auditExport, auditVerification } from "./access/audit-chain.ts";
import { auditLog } from "./access/audit-log.ts";
import { getDocumentSettings, putDocumentSettings } from "./supplier/document-settings.ts";
import { csvDocument, orderSheet, pdfDocument } from "./supplier/documents.ts";
import { followEvents, listEvents } from "./events.ts";
import { exportFile, importFile, restoreFile, snapshotFile } from "./exchange.ts";
import { deleteConsoleView, listConsoleViewsOperation, putConsoleView } from "./console-views.ts";
import { decideConnection, readConnectionRequest } from "./access/connections.ts";
import { createKey, listKeys, patchKey, revokeKey } from "./access/keys.ts";
import { figureOperations } from "./catalogue/figures.ts";
import { listChanges, listOpenLines, lookUpLocations, lookUpSuppliers, lookUpVariants } from "./catalogue/look-ups.ts";
import { addOrderComment, listOrderComments } from "./comments.ts";
import { listFailedMails, listOrderMails, retryOrderMail, sendOrderMail } from "./supplier/mails.ts";
import { approveRequestOf } from "../operations/approvals/approve.ts";
import { rejectRequest, withdrawRequest } from "../operations/approvals/decide.ts";
import { operations } from "../operations/registry.ts";
import { orderAgain } from "../operations/purchase-orders/again.ts";
import { mergeDrafts } from "../operations/purchase-orders/merge.ts";
import type { Operation } from "../requests/operation.ts";
import { getApprovalRequest, listApprovalRequests } from "./access/approval-requests.ts";
import { type AdminOperation, performed } from "./operation.ts";
import {
  createInvitation,
  deletePerson,
  getPerson,
  listInvitationsOperation,
  listPeopleOperation,
  listSessionsOperation,
  patchPerson,
  revokeInvitationOperation,
  revokeSession,
} from "./access/people.ts";
import { patchSandboxVariant, putSandboxFaults, sandboxState } from "./storefront/sandbox.ts";
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpointDeliveries,
  listWebhookEndpoints,
  patchEndpoint,
  replayEvents,
  retryDelivery,
  rotateSecret,
  testEndpoint,
} from "./webhooks.ts";
import {
  createSupplierLink,
  listSupplierLinksOperation,
  revokeSupplierLinkOperation,
} from "./supplier/supplier-links.ts";
import { acceptProposal, listProposals, listWaitingProposals, rejectProposal } from "./supplier/supplier-proposals.ts";
import { getStorefront } from "./storefront/storefront.ts";
import { recordOperations } from "./catalogue/records.ts";
import { pullStorefront } from "./storefront/storefront-pull.ts";
import { subscribeStorefront } from "./storefront/storefront-webhooks.ts";
import { deleteShop, getShop, listShops, putShop } from "./shops.ts";

/** The write of this name, of those that may be asked for. */
function operationNamed(name: string): Operation | null {
  const performs = adminOperations.flatMap((each) => (each.performs === undefined ? [] : [each.performs]));
  return [...operations, ...performs].find((each) => each.name === name) ?? null;
}

export const adminOperations: readonly AdminOperation[] = [
  putShop,
  listShops,
  getShop,
  deleteShop,
  getStorefront,
  pullStorefront,
  subscribeStorefront,
  createKey,
  listKeys,
  patchKey,
  revokeKey,
  readConnectionRequest,
  decideConnection,
  createInvitation,
  listInvitationsOperation,
  revokeInvitationOperation,
  listPeopleOperation,
  getPerson,
  patchPerson,
  deletePerson,
  listSessionsOperation,
  revokeSession,
  lookUpSuppliers,
  lookUpLocations,
  lookUpVariants,
  listOpenLines,
  listChanges,
  ...recordOperations,
  ...figureOperations,
  orderSheet,
  pdfDocument,
  csvDocument,
  getDocumentSettings,
  putDocumentSettings,
  sendOrderMail,
  listOrderMails,
  retryOrderMail,
  listFailedMails,
  performed("purchaser", orderAgain),
  performed("purchaser", mergeDrafts),
  addOrderComment,
  listOrderComments,
  listApprovalRequests,
  getApprovalRequest,
  performed("viewer", approveRequestOf(operationNamed)),
  performed("viewer", rejectRequest),
  performed("viewer", withdrawRequest),
  listConsoleViewsOperation,
  putConsoleView,
  deleteConsoleView,
  createSupplierLink,
  listSupplierLinksOperation,
  revokeSupplierLinkOperation,
  listProposals,
  listWaitingProposals,
  acceptProposal,
  rejectProposal,
  auditLog,
  auditChain,
  auditVerification,
  auditExport,
  listEvents,
  followEvents,
  createEndpoint,
  listWebhookEndpoints,
  getEndpoint,
  patchEndpoint,
  deleteEndpoint,
  rotateSecret,
  testEndpoint,
  listEndpointDeliveries,
  retryDelivery,
  replayEvents,
  importFile,
  exportFile,
  snapshotFile,
  restoreFile,
  sandboxState,
  patchSandboxVariant,
  putSandboxFaults,
];
