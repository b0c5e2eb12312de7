/** Calls as the operator: with the token itself, since a session works in one shop. */
import { createClient } from "../../client/index.ts";
import { operatorToken, withWords } from "../data/session.ts";

export const asOperator = () =>
  createClient({
    baseUrl: location.origin,
    apiKey: operatorToken.value ?? "",
    fetch: async (input, init) => await withWords(await fetch(input, init)),
    retriesMax: 2,
  });
