/** Choice of the page's language. */
import type { FunctionComponent } from "preact";
import { pageLanguage } from "../../data/format.ts";
import { chooseLanguage } from "../../data/look.ts";
import { languageNames, languages } from "../../texts/languages.ts";
import { texts } from "../../texts/en/texts.ts";

export const LanguageField: FunctionComponent = () => (
  <label class="language">
    {texts.navigation.language}
    <select
      value={pageLanguage}
      onChange={({ currentTarget }) => {
        const language = languages.find((each) => each === currentTarget.value);
        if (language !== undefined) void chooseLanguage(language);
      }}
    >
      {languages.map((language) => (
        <option key={language} value={language} lang={language}>
          {languageNames[language]}
        </option>
      ))}
    </select>
  </label>
);
