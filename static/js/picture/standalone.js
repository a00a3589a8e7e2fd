/** The text of an offline file: viewer, styles and trace in one HTML document that asks nobody for anything. */

/**
 * @typedef {{title: string, language: string, theme: string | null, body: string, style: string, script: string, data: unknown, nonce: string}} OfflineParts
 *   theme: null follows the reader's system; body: trusted HTML; nonce: lets this file's script and styles run, and nothing else
 */

/** @param {OfflineParts} parts @returns {string} */
export function offlineDocument({ title, language, theme, body, style, script, data, nonce }) {
  const contentPolicy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="${escapeAttribute(language)}"${theme ? ` data-theme="${escapeAttribute(theme)}"` : ""}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeAttribute(title)}</title>
<style nonce="${nonce}">
${style.replace(/<\/style/gi, "<\\/style")}
</style>
</head>
<body>
${body}
<script type="application/json" id="first">${jsonForScript(data)}</script>
<script nonce="${nonce}">
${script.replace(/<\/script/gi, "<\\/script").replaceAll("<!--", "<\\!--")}
</script>
</body>
</html>
`;
}

/** JSON as the content of a script element: nothing in it can end the element or begin another. @param {unknown} data */
export function jsonForScript(data) {
  return JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** @param {string} text */
function escapeAttribute(text) {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}
