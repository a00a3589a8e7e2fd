/** The text of an offline file: viewer, styles and trace in one HTML document that asks nobody for anything. */

interface OfflineParts {
  title: string;
  language: string;
  /** null follows the reader's system */
  theme: string | null;
  /** trusted HTML */
  body: string;
  style: string;
  script: string;
  data: unknown;
  /** lets this file's script and styles run, and nothing else */
  nonce: string;
}

export function offlineHtml({ title, language, theme, body, style, script, data, nonce }: OfflineParts): string {
  const contentPolicy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="${escapeHtmlAttribute(language)}"${theme ? ` data-theme="${escapeHtmlAttribute(theme)}"` : ""}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtmlAttribute(title)}</title>
<style nonce="${nonce}">
${style.replace(/<\/style/gi, "<\\/style")}
</style>
</head>
<body>
${body}
<script type="application/json" id="first">${jsonForScriptElement(data)}</script>
<script nonce="${nonce}">
${script.replace(/<\/script/gi, "<\\/script").replaceAll("<!--", "<\\!--")}
</script>
</body>
</html>
`;
}

/** JSON as the content of a script element: nothing in it can end the element or begin another. */
export function jsonForScriptElement(data: unknown) {
  return JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function escapeHtmlAttribute(text: string) {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}
