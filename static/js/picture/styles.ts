/** The styles of a picture that is taken away, as text, in the order in which the page has them. */

import allocator from "../../css/allocator.css";
import graphPane from "../../css/graph_pane.css";
import handles from "../../css/handles.css";
import lighting from "../../css/lighting.css";
import loom from "../../css/loom.css";
import loomGraph from "../../css/loom_graph.css";
import loomStorages from "../../css/loom_storages.css";
import memoryPane from "../../css/memory_pane.css";
import outline from "../../css/outline.css";
import paper from "../../css/paper.css";
import stage from "../../css/stage.css";
import frame from "../../css/stage_frame.css";

const STAGE_STYLES = [stage, handles, outline, lighting, frame, graphPane, memoryPane, allocator];
const LOOM_STYLES = [loom, loomStorages, loomGraph];

export const pictureStyles = [...STAGE_STYLES, ...LOOM_STYLES, paper].join("");
