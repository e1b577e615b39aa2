import { fetchInTime } from "../../supabase/functions/api/adapters/backend.ts";
import { supabaseMetadata } from "../../supabase/functions/api/adapters/supabase_metadata.ts";
import { hashApiKey } from "../../supabase/functions/api/auth/api_key.ts";
import { suite } from "../support/stack/suite.ts";
import { metadataContract } from "./metadata.ts";
import { client, silentParts, unreachableClient } from "./supabase.ts";

const { service } = await suite();
const { backendUrl, secretKey } = service.stack;

metadataContract("SupabaseMetadata", {
  metadata: supabaseMetadata(client(backendUrl, secretKey), silentParts()),
  losingFirstAnswer() {
    let isFirst = true;
    const fetch: typeof fetchInTime = async (input, init) => {
      const response = await fetchInTime(input, init);
      if (!isFirst) return response;
      isFirst = false;
      await response.body?.cancel();
      throw new TypeError("the connection broke before the response");
    };
    return supabaseMetadata(client(backendUrl, secretKey, fetch), silentParts());
  },
  unreachable: () => supabaseMetadata(unreachableClient(), silentParts()),
  async tenant(requestsPerMinute) {
    const isLimited = requestsPerMinute !== undefined;
    const { id, keyId, key } = await service.project("enterprise", isLimited ? { requestsPerMinute } : {});
    if (isLimited) await service.freezeWindow(id);
    return { projectId: id, keyId, keyHash: await hashApiKey(key) };
  },
});
