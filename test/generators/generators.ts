/**
 * The generators of the check (run.ts), with the commands that install, generate, compile and run each. A client's program and the versions
 * that it needs are in `clients/<name>/`. Where a command names a place, `{cache}` is the folder of what was installed.
 */

import { type Command, pipInstall } from "../support/programs/programs.ts";

/** Something that the machine must have, with a command that prints its version. */
interface Need {
  readonly what: string;
  readonly version: Command;
  readonly accepted: RegExp;
}

export interface Generator {
  /** Its folder in `clients/`. */
  readonly name: string;
  /** What the machine must have. Nothing here is installed by the check. */
  readonly needs: readonly Need[];
  /** Commands that bring what is installed: run once for each content of `manifests`, in a new folder of the cache. */
  readonly install: readonly Command[];
  /** The files that name versions. Beside the program, or `../../` for those that several share. */
  readonly manifests: readonly string[];
  readonly generate: Command;
  readonly compile: readonly Command[];
  readonly run: Command;
}

const openapiGenerator = "org.openapitools:openapi-generator-cli:7.25.0";
const mavenDependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1";
const oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2";

const java = [
  { what: "a JDK, 17 or later", version: ["javac", "-version"], accepted: /javac (?:1[7-9]|[2-9]\d)/ },
  { what: "Maven 3", version: ["mvn", "-version"], accepted: /Apache Maven 3/ },
] as const;
const python = [
  { what: "Python 3.11 or later", version: ["python3", "--version"], accepted: /Python 3\.(?:1[1-9]|[2-9]\d)/ },
] as const;
const go = [{ what: "Go 1.24 or later", version: ["go", "version"], accepted: /go1\.(?:2[4-9]|[3-9]\d)/ }] as const;

const npmInstall: readonly Command[] = [["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]];
const npmManifests = ["../../package.json", "../../package-lock.json"];
const compileTypeScript: Command = ["node", "{cache}/node_modules/typescript/bin/tsc", "--project", "."];
const mypy: Command = ["{cache}/venv/bin/python", "-m", "mypy", "main.py"];
const generatorJar = "{cache}/openapi-generator-cli-7.25.0.jar";
const copyGenerator: Command = [
  "mvn",
  "--batch-mode",
  "--quiet",
  `${mavenDependencyPlugin}:copy`,
  `-Dartifact=${openapiGenerator}`,
  "-DoutputDirectory=.",
];

const openapiGeneratorRun = (generator: string, output: string): Command => [
  "java",
  "-jar",
  generatorJar,
  "generate",
  "--input-spec",
  "openapi.json",
  "--generator-name",
  generator,
  "--output",
  output,
];

export const generators: readonly Generator[] = [
  {
    name: "openapi-typescript",
    needs: [],
    install: npmInstall,
    manifests: npmManifests,
    generate: [
      "node",
      "{cache}/node_modules/openapi-typescript/bin/cli.js",
      "openapi.json",
      "--output",
      "generated/schema.d.ts",
    ],
    compile: [compileTypeScript],
    run: ["node", "built/main.js"],
  },
  {
    name: "hey-api",
    needs: [],
    install: npmInstall,
    manifests: npmManifests,
    generate: ["node", "{cache}/node_modules/@hey-api/openapi-ts/bin/run.js"],
    compile: [compileTypeScript],
    run: ["node", "built/main.js"],
  },
  {
    name: "oapi-codegen",
    needs: go,
    install: [["env", "GOBIN={cache}", "go", "install", oapiCodegen]],
    manifests: ["go.mod", "go.sum"],
    generate: ["{cache}/oapi-codegen", "-config", "config.yaml", "openapi.json"],
    compile: [["go", "build", "-o", "check", "."]],
    run: ["./check"],
  },
  {
    name: "openapi-generator-java",
    needs: java,
    install: [
      copyGenerator,
      ["mvn", "--batch-mode", "--quiet", `${mavenDependencyPlugin}:copy-dependencies`, "-DoutputDirectory=libraries"],
    ],
    manifests: ["pom.xml"],
    generate: [
      ...openapiGeneratorRun("java", "generated"),
      // The program then names the parameters that it sends, and need not change with each new one.
      "--additional-properties",
      "useSingleRequestParameter=true",
    ],
    compile: [
      ["sh", "-c", "find generated/src/main -name '*.java' > sources"],
      ["javac", "-encoding", "UTF-8", "-nowarn", "-d", "built", "-cp", "{cache}/libraries/*", "@sources", "Main.java"],
    ],
    run: ["java", "-cp", "built:{cache}/libraries/*", "Main"],
  },
  {
    name: "openapi-generator-python",
    needs: [...java, ...python],
    install: [copyGenerator, ...pipInstall],
    manifests: ["requirements.txt"],
    generate: openapiGeneratorRun("python", "."),
    compile: [["{cache}/venv/bin/python", "-m", "compileall", "-q", "openapi_client"], mypy],
    run: ["{cache}/venv/bin/python", "main.py"],
  },
  {
    name: "openapi-python-client",
    needs: python,
    install: pipInstall,
    manifests: ["requirements.txt"],
    generate: [
      "{cache}/venv/bin/openapi-python-client",
      "generate",
      "--path",
      "openapi.json",
      "--meta",
      "none",
      "--config",
      "config.yaml",
      "--output-path",
      "openpo_client",
      "--fail-on-warning",
    ],
    compile: [["{cache}/venv/bin/python", "-m", "compileall", "-q", "openpo_client"], mypy],
    run: ["{cache}/venv/bin/python", "main.py"],
  },
];
