/** Everything in memory but the database: no Redis, no admin. */
const { defineConfig } = require("@medusajs/framework/utils");

const { DATABASE_URL: databaseUrl, OPENPO_MEDUSA_SECRET: secret } = process.env;
const nowhere = "http://localhost";

module.exports = defineConfig({
  admin: { disable: true },
  projectConfig: {
    databaseUrl,
    http: { storeCors: nowhere, adminCors: nowhere, authCors: nowhere, jwtSecret: secret, cookieSecret: secret },
  },
});
