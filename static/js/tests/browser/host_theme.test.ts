/** Light or dark: what the notebooks say of themselves, in the attributes that they have. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isDarkColour, themeStatedByElement } from "../../browser/host_theme.ts";

const element = (dataset: Record<string, string>, ...classes: string[]) => ({
  dataset,
  classList: { contains: (name: string) => classes.includes(name) },
});

test("a notebook's page says its theme", () => {
  const pages = [
    {
      name: "JupyterLab, light",
      page: element({ jpThemeLight: "true", jpThemeName: "JupyterLab Light" }),
      theme: "light",
    },
    {
      name: "JupyterLab, dark",
      page: element({ jpThemeLight: "false", jpThemeName: "JupyterLab Dark" }),
      theme: "dark",
    },
    { name: "VS Code", page: element({ vscodeThemeKind: "vscode-dark" }, "vscode-dark"), theme: "dark" },
    { name: "VS Code, light", page: element({ vscodeThemeKind: "vscode-light" }, "vscode-light"), theme: "light" },
    { name: "VS Code, contrast", page: element({ vscodeThemeKind: "vscode-high-contrast" }), theme: "dark" },
    {
      name: "VS Code, light contrast",
      page: element({ vscodeThemeKind: "vscode-high-contrast-light" }),
      theme: "light",
    },
    { name: "VS Code, classes alone", page: element({}, "vscode-high-contrast-light"), theme: "light" },
    { name: "marimo", page: element({ theme: "dark" }, "dark", "dark-theme"), theme: "dark" },
    { name: "a page that says nothing", page: element({}), theme: null },
    { name: "a page with words of its own", page: element({ theme: "solarized" }), theme: null },
  ];
  for (const { name, page, theme } of pages) assert.equal(themeStatedByElement(page), theme, name);
});

test("a colour is dark where it is nearer to black", () => {
  assert.deepEqual(["rgb(30, 30, 30)", "rgba(17, 24, 39, 0.9)", "rgb(0, 0, 255)"].map(isDarkColour), [
    true,
    true,
    true,
  ]);
  assert.deepEqual(["rgb(255, 255, 255)", "rgb(240, 240, 240)", "rgb(255, 255, 0)"].map(isDarkColour), [
    false,
    false,
    false,
  ]);
});
