/**
 * The schemas of all answers, by the names with which routes say what they return. Only what describes the service
 * imports this file: a request does not pay for making schemas that it does not use.
 */
export {
  batchResults,
  diffRecord,
  editAnswer,
  fileList,
  fileRecord,
  folderResult,
  purged,
  readRecord,
  redacted,
  tombstone,
} from "./files.ts";
export { appRedirect, appRequest } from "./apps.ts";
export { branch, branchDetails, branchPage, mergeResult } from "./branches.ts";
export { key, keyList, newKey, rotatedKey } from "./keys.ts";
export { createdLink, linkList, revokedLink } from "./links.ts";
export { member, memberList, newMember, removedMember } from "./members.ts";
export { account, changedProject, deletedAccount, deletedProject, project, projectList } from "./projects.ts";
export { runDetails, runPage, undoResult } from "./runs.ts";
export { searchResults } from "./search.ts";
export {
  appTokens,
  health,
  keySet,
  mcpReply,
  memoryAnswer,
  noAnswer,
  openapiDocument,
  registeredClient,
  resourceMetadata,
  serverMetadata,
  sweep,
} from "./service.ts";
export { usage } from "./usage.ts";
export { activity, changePage, versionList } from "./versions.ts";
export {
  changedWebhook,
  newWebhook,
  webhook,
  webhookDeliveries,
  webhookList,
  webhookTest,
} from "./webhooks.ts";
