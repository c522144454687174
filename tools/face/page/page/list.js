// Long lists: one pool of rows, of which those on the screen and a few more are filled.

const MOST_PIXELS = 15e6, AROUND = 6;

class List {
    // fill(element, i) fills a row; height() says how high all are.
    constructor(box, height, fill) {
        this.box = box;
        this.height = height;
        this.fill = fill;
        this.count = 0;
        this.space = div("space");
        this.pool = [];
        this.waiting = false;
        box.append(this.space);
        box.addEventListener("scroll", () => this.later(), {passive: true});
        new ResizeObserver(() => this.later()).observe(box);
    }
    resize(count) {
        this.count = count;
        this.later();
    }
    later() {
        if (this.waiting)
            return;
        this.waiting = true;
        requestAnimationFrame(() => {
            this.waiting = false;
            this.paint();
        });
    }
    // Pixels of the list per pixel of the scroll bar.
    scale() {
        const whole = this.count * this.height(), seen = this.box.clientHeight;
        return whole > MOST_PIXELS ? (whole - seen) / (MOST_PIXELS - seen) : 1;
    }
    paint() {
        const height = this.height(), seen = this.box.clientHeight, whole = this.count * height;
        this.space.style.height = Math.min(whole, MOST_PIXELS) + "px";
        const scale = this.scale(), scroll = this.box.scrollTop, top = scroll * scale;
        const first = Math.max(0, Math.floor(top / height) - AROUND);
        const last = Math.min(this.count, Math.ceil((top + seen) / height) + AROUND);
        while (this.pool.length < last - first) {
            const row = div("row");
            this.pool.push(row);
            this.space.append(row);
        }
        for (let k = 0; k < this.pool.length; k++) {
            const row = this.pool[k], i = first + k;
            row.hidden = i >= last;
            if (row.hidden)
                continue;
            row.style.transform = "translateY(" + (i * height - top + scroll) + "px)";
            row.style.height = height + "px";
            row.replaceChildren();
            row.className = "row";
            this.fill(row, i);
        }
    }
    show(i, middle) {
        const height = this.height(), seen = this.box.clientHeight, scale = this.scale();
        const top = this.box.scrollTop * scale;
        this.space.style.height = Math.min(this.count * height, MOST_PIXELS) + "px"; // before it scrolls
        if (i * height < top || (i + 1) * height > top + seen) {
            const target = middle || i * height > top + 2 * seen || i * height < top - seen
                ? i * height - (seen - height) / 2
                : i * height < top ? i * height : (i + 1) * height - seen;
            this.box.scrollTop = Math.max(0, target / scale);
        }
        this.later();
    }
}
