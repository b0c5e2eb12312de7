/** Parts of nodemailer that are used, so that types need no installed package: it is loaded with the first mail. */
declare module "nodemailer" {
  interface Address {
    readonly name: string;
    readonly address: string;
  }

  /** Facts about a failure, and about a recipient whom the server has refused. */
  export interface SmtpFailure {
    readonly message: string;
    readonly code?: string | undefined;
    /** Node's name for it, where `code` is nodemailer's own word. */
    readonly originalCode?: string | undefined;
    readonly command?: string | undefined;
    readonly response?: string | undefined;
    readonly responseCode?: number | undefined;
    readonly permanent?: boolean | undefined;
    readonly recipient?: string | undefined;
    readonly rejectedErrors?: readonly SmtpFailure[] | undefined;
  }

  export interface Transport {
    sendMail(mail: {
      readonly messageId: string;
      readonly from: Address;
      readonly replyTo?: Address;
      readonly to: readonly Address[];
      readonly cc: readonly Address[];
      readonly envelope: { readonly from: string; readonly to: readonly string[] };
      readonly subject: string;
      readonly text: string;
      readonly attachments: readonly {
        readonly filename: string;
        readonly contentType: string;
        readonly content: Buffer;
      }[];
      readonly headers: Readonly<Record<string, string>>;
      readonly signal: AbortSignal;
    }): Promise<{ readonly rejectedErrors?: readonly SmtpFailure[] | undefined }>;
    on(event: "error", listener: () => void): void;
    close(): void;
  }

  export function createTransport(options: {
    readonly pool: true;
    readonly host: string;
    readonly port: number;
    readonly secure: boolean;
    readonly requireTLS: boolean;
    readonly ignoreTLS: boolean;
    readonly auth?: { readonly user: string; readonly pass: string };
    readonly maxConnections: number;
    readonly maxRequeues: number;
    readonly connectionTimeout: number;
    readonly socketTimeout: number;
    readonly idleTimeout: number;
    readonly maxResponseSize: number;
    readonly disableFileAccess: boolean;
    readonly disableUrlAccess: boolean;
  }): Transport;
}
